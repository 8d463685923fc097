# SPDX-License-Identifier: Apache-2.0
"""What `redline info`, `redline models` and `redline tokenize` print, and how they refuse."""
import json
import os
import subprocess

import pytest

import reference


def redline(*arguments, cache=None, given=b""):
    environment = dict(os.environ, **({"REDLINE_CACHE": str(cache)} if cache else {}))
    return subprocess.run([reference.PROGRAM, *map(str, arguments)], input=given, env=environment,
                          capture_output=True, check=False)


def test_info_names_version_build_instruction_sets_and_caches(tmp_path):
    told = json.loads(redline("info", "--json", cache=tmp_path).stdout)
    assert told["version"] and told["compiler"] and told["cache_folder"] == str(tmp_path)
    assert told["instruction_sets"][0] == "portable"
    assert told["instruction_set_used"] == told["instruction_sets"][-1]
    assert told["models_fetched"] == []
    assert str(tmp_path) in redline("info", cache=tmp_path).stdout.decode()


def test_models_are_listed_with_what_is_fetched(tmp_path):
    listed = json.loads(redline("models", "--json", cache=tmp_path).stdout)
    assert [model["fetched"] for model in listed] == [False] * 3
    table = redline("models", cache=tmp_path).stdout.decode().splitlines()
    assert table[0].split() == ["name", "size", "fetched", "path"]
    assert [line.split()[0] for line in table[1:]] == [model["name"] for model in listed]


@pytest.mark.parametrize("arguments, says", [
    (["tokenize", "nope"], "neither a file nor a known name (known are smollm2"),
    (["tokenize", "smollm2-135m-instruct-q4_1"], "redline models fetch smollm2-135m-instruct-q4_1"),
    (["models", "fetch", "nope"], "no model 'nope' is known"),
    (["models", "fetch"], "--all"),
    (["tokenize"], "model is required"),
])
def test_bad_input_is_exit_code_2_with_the_remedy(arguments, says, tmp_path):
    done = redline(*arguments, cache=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr.decode()


def test_a_file_that_is_no_model_is_named(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"GGUF\x03\x00\x00\x00")
    done = redline("tokenize", tmp_path / "x.gguf", "--text", "a")
    assert done.returncode == 2 and "x.gguf: the tensor count" in done.stderr.decode()


@pytest.mark.skipif(not reference.SMOLLM2.exists(), reason="SmolLM2 is not fetched")
def test_lines_that_are_not_what_the_flags_say_are_named():
    done = redline("tokenize", reference.SMOLLM2, "--escaped", given=b'"fine"\nnot json\n')
    assert done.returncode == 2 and "standard input:2: not JSON" in done.stderr.decode()
    done = redline("tokenize", reference.SMOLLM2, "--chat", given=b'[{"role": "user"}]\n')
    assert done.returncode == 2 and "standard input:1: not a list of" in done.stderr.decode()
