# SPDX-License-Identifier: Apache-2.0
"""`redline plugins`: the text a user reads, and the JSON a tool reads."""
import json
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def run(program, *arguments):
    return subprocess.run([program, "plugins", *arguments], text=True, capture_output=True, timeout=60)


def test_one_plugin_reads_as_approved(program):
    said = run(program, "draft_ngram").stdout
    said = re.sub(r"^(file|sha256|build) +.*$", r"\1", said, flags=re.M)  # what differs by machine
    assert said == (HERE / "draft_ngram.approved.txt").read_text()


def test_the_list_names_every_plugin_with_its_kind(program):
    lines = dict(line.split()[1::-1] for line in run(program).stdout.splitlines())
    assert lines["draft_model"] == "drafter"
    assert lines["accept_ratio"] == "rule"
    assert lines["sample_top_p"] == "sampler"
    assert lines["length_fixed"] == "length"


def test_json_tells_parameters_and_provenance(program):
    one = json.loads(run(program, "--json", "length_fixed").stdout)
    assert [p["name"] for p in one["parameters"]] == ["max_depth", "max_nodes"]
    assert one["parameters"][0]["default"] == "4"
    assert re.fullmatch("[0-9a-f]{64}", one["sha256"]) and Path(one["path"]).is_file()
    assert one in json.loads(run(program, "--json").stdout)


def test_what_cannot_be_loaded_is_an_error_with_its_exit_code(program, tmp_path):
    unknown = run(program, "draft_ngrams")
    assert unknown.returncode == 2 and "did you mean 'draft_ngram'?" in unknown.stderr
    garbage = tmp_path / "garbage.so"
    garbage.write_text("no library")
    bad = run(program, "--plugin", garbage)
    assert bad.returncode == 3 and f"{garbage}: is not a shared library" in bad.stderr
