# SPDX-License-Identifier: Apache-2.0
"""What redline bench engine prints, and its plot. Figures are not judged: machines differ."""
import json
import subprocess
import sys

import pytest

PARTS = ["draft", "target", "sampling", "rule", "kv", "trace", "scheduling", "rest"]
MODES = ["plain", "speculative"]


def bench(program, *arguments):
    return subprocess.run([program, "bench", "engine", *map(str, arguments)], capture_output=True, text=True)


def plot(*arguments):
    return subprocess.run([sys.executable, "-m", "redline_trace.bench_plot", *map(str, arguments)],
                          capture_output=True, text=True)


@pytest.fixture(scope="module")
def result(program, tmp_path_factory):
    ran = bench(program, "tiny", "--sequences", "1,3", "--tokens", 12, "--repeats", 1, "--threads", 1,
                "--trace", "topk", "--draft-tokens", "2,4", "--json")
    assert ran.returncode == 0, ran.stderr
    path = tmp_path_factory.mktemp("bench") / "engine.json"
    path.write_text(ran.stdout)
    return path


def test_json_lists_each_number_of_sequences_plain_and_with_drafts_of_each_length(result):
    runs = json.loads(result.read_text())["runs"]
    assert [(r["sequences"], r["draft_tokens"]) for r in runs] == [(n, depth) for n in (1, 3) for depth in (0, 2, 4)]
    for run in runs:
        assert run["mode"] == MODES[run["draft_tokens"] > 0]
        assert run["identical"] == run["sequences"]  # at temperature 0 drafts change no text
        assert run["tokens_per_s"] > 0
        assert 0 < run["token_ms"]["median"] <= run["token_ms"]["p95"]


def test_a_plain_step_yields_one_token_and_drafts_nothing(result):
    runs = json.loads(result.read_text())["runs"]
    assert [r["tokens_per_step"] for r in runs if r["mode"] == "plain"] == [1, 1]
    assert all(1 <= r["tokens_per_step"] <= 5 for r in runs)


def test_shares_name_every_part_and_sum_to_one(result):
    for run in json.loads(result.read_text())["runs"]:
        assert list(run["shares"]) == PARTS
        assert all(share >= 0 for share in run["shares"].values())
        assert sum(run["shares"].values()) == pytest.approx(1, abs=1e-9)
        assert run["shares"]["trace"] > 0


def test_the_table_has_a_line_for_each_and_a_column_for_each_part(program):
    ran = bench(program, "tiny", "--sequences", 2, "--tokens", 8, "--repeats", 1, "--threads", 1)
    assert ran.returncode == 0, ran.stderr
    heads, *lines = ran.stdout.splitlines()
    assert all(f"{part} %" in heads for part in PARTS)
    assert [line.split()[:2] for line in lines] == [["2", mode] for mode in MODES]


@pytest.mark.parametrize("arguments, told", [
    (["tiny", "--sequences", "0,2"], "--sequences names 0"),
    (["tiny", "--tokens", "1"], "--tokens"),
    (["tiny", "--trace", "loud"], "--trace"),
    (["tiny", "--prompt", "missing.jsonl"], "missing.jsonl"),
    (["no-such-model"], "no-such-model"),
    (["tiny", "--draft-tokens", "2,0"], "--draft-tokens names 0"),
    (["some-model", "--requantize", "q4_0"], "name it with --draft"),
    (["tiny", "--head-tokens", "8"], "frequencies"),
    (["tiny", "--sequences", "700", "--tokens", "2", "--repeats", "1"], "raise --tokens"),
])
def test_what_cannot_be_measured_is_refused_with_its_reason(program, arguments, told):
    ran = bench(program, *arguments)
    assert (ran.returncode, told in ran.stderr) == (2, True), ran.stderr


def test_a_draft_may_be_cheaper_than_its_file(program):
    ran = bench(program, "tiny", "--sequences", 1, "--tokens", 8, "--repeats", 1, "--threads", 1, "--requantize", "q4_0",
                "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["requantize"] == "q4_0"


def test_the_plot_is_drawn_from_the_json(result, tmp_path):
    drawn = plot(result, tmp_path / "engine.png")
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "engine.png").read_bytes().startswith(b"\x89PNG")


def test_the_plot_of_something_else_is_refused_by_name(tmp_path):
    other = tmp_path / "other.json"
    other.write_text("[]")
    drawn = plot(other, tmp_path / "engine.png")
    assert drawn.returncode == 1
    assert "other.json is no result of `redline bench engine --json`" in drawn.stderr
