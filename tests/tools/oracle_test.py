# SPDX-License-Identifier: Apache-2.0
"""Logits of the program against the NumPy oracle: float32 of the dequantised weights."""
import json
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(scope="module")
def compare(source):
    sys.path.insert(0, str(source / "tools" / "oracle"))
    import compare
    return compare


def kl_of_slice(compare, source, program, model, texts, folder):
    """Mean KL over the first tokens of some of the tool's prompts."""
    known = json.loads(subprocess.check_output([program, "models", "--json"]))
    if not any(one["name"] == model and one["fetched"] for one in known):
        pytest.skip(f"{model} is not fetched: redline models fetch {model}")
    prompts = (source / "tools/oracle/prompts.jsonl").read_text().splitlines()
    (folder / "prompts.jsonl").write_text("\n".join(prompts[i] for i in texts) + "\n")
    ids = folder / "ids.jsonl"
    with open(ids, "w") as out:
        compare.tokenize(program, model, folder / "prompts.jsonl", out)
    cut = [json.loads(line)[:20] for line in ids.read_text().splitlines()]
    ids.write_text("".join(json.dumps(text) + "\n" for text in cut))
    kl, _ = compare.compare(program, model, ids)
    assert len(kl) == sum(len(text) - 1 for text in cut)
    return kl.mean()


def test_smollm2_is_within_its_limit_of_the_oracle(compare, source, program, tmp_path):
    model = "smollm2-135m-instruct-q4_1"
    assert 0 < kl_of_slice(compare, source, program, model, [1, 9], tmp_path) <= 0.006


@pytest.mark.real_pair
@pytest.mark.parametrize("model", ["qwen2.5-coder-0.5b-instruct-q4_k_m",
                                   "qwen2.5-coder-1.5b-instruct-q4_k_m"])
def test_the_pair_is_within_its_limit_of_the_oracle(compare, source, program, tmp_path, model):
    assert 0 < kl_of_slice(compare, source, program, model, [1, 7, 9], tmp_path) <= 0.003


def test_logits_prints_the_top_of_each_position(program, tmp_path):
    model = "smollm2-135m-instruct-q4_1"
    known = json.loads(subprocess.check_output([program, "models", "--json"]))
    if not any(one["name"] == model and one["fetched"] for one in known):
        pytest.skip(f"{model} is not fetched: redline models fetch {model}")
    ids, full = tmp_path / "ids.jsonl", tmp_path / "all.npy"
    ids.write_text("[504, 3575, 282]\n[1, 4093]\n")
    command = [program, "logits", model, "--ids", ids, "--top", "4", "--json", "--full", full]
    texts = json.loads(subprocess.check_output(command))
    rows = np.load(full)
    assert [len(text) for text in texts] == [3, 2] and rows.shape == (5, 49152)
    for position, row in zip(sum(texts, []), rows):
        assert position["ids"] == np.argsort(-row, kind="stable")[:4].tolist()
        assert np.array_equal(np.float32(position["logits"]), row[position["ids"]])
        total = np.log(np.sum(np.exp(row.astype(np.float64))))
        assert position["logsumexp"] == pytest.approx(total, abs=1e-5)


@pytest.mark.parametrize("line, fact", [("[1, 99999999]", "the vocabulary has 49152"),
                                        ("[1, -2]", "-2 is no token id"),
                                        ("{}", "expected a JSON list of ids")])
def test_ids_that_are_none_end_with_the_fact_and_code_2(program, tmp_path, line, fact):
    (tmp_path / "ids.jsonl").write_text(line + "\n")
    done = subprocess.run([program, "logits", "smollm2-135m-instruct-q4_1", "--ids",
                           tmp_path / "ids.jsonl"], capture_output=True, text=True)
    if "fetch" in done.stderr:
        pytest.skip("SmolLM2 is not fetched")
    assert done.returncode == 2 and fact in done.stderr
