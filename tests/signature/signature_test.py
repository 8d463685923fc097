# SPDX-License-Identifier: Apache-2.0
"""The ids that tiny generated models emit are the same on every machine and instruction set.

A change that moves the signature changes results: put the new value into signature.txt in the same
commit, and say in its body why the results moved."""
import json
import os
import pathlib
import subprocess

PROGRAM = os.environ.get("REDLINE_PROGRAM", "redline")
RECORDED = (pathlib.Path(__file__).parent / "signature.txt").read_text().strip()


def redline(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


def test_every_instruction_set_gives_the_recorded_signature():
    sets = json.loads(redline("info", "--json"))["instruction_sets"]
    assert "portable" in sets
    for isa in sets:
        assert redline("bench", "--signature", "--isa", isa).strip() == RECORDED, isa
