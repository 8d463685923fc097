# SPDX-License-Identifier: Apache-2.0
"""tools/compare_llama_cpp: its arithmetic on recorded output, and whole runs on the tiny model, alone and
beside a stand-in that speaks the peer's protocol."""
import importlib
import json
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def tool(source):
    sys.path.insert(0, str(source / "tools" / "compare"))
    yield importlib.import_module
    sys.path.pop(0)


def compare(source, program, *arguments):
    return subprocess.run([sys.executable, source / "tools" / "compare_llama_cpp", "--program", program, "--target",
                           "tiny", "--draft", "tiny", "--rounds", "2", "--repeats", "1", "--context", "64", *arguments],
                          capture_output=True, text=True)


def test_a_ratio_is_the_median_of_the_pairs_not_the_ratio_of_medians(tool):
    pairs = tool("slices").Pairs()
    for ours, theirs in [(1, 2), (30, 20), (4, 4)]:  # a slow slice slows both
        pairs.add("x", "ours", {"ms": [ours, 10 * ours, ours / 10], "roofline_now_ms": ours / 2})
        pairs.add("x", "theirs", {"ms": [theirs]})
    assert pairs.ratio("x", "ours", "theirs") == 1.0
    assert pairs.median("x", "ours") == 4
    assert pairs.ratio("x", "ours", "nobody") is None
    assert pairs.of_roofline("x", "ours") == 2.0


def test_sides_take_turns_within_a_slice(tool):
    asked = []

    class Side:
        about = {}

        def __init__(self, name):
            self.name = name

        def ask(self, kind, rows, repeats):
            asked.append((self.name, rows))
            return {"ms": [1.0] * repeats}

    questions = [("chain", 1, ["a", "b"]), ("chain", 4, ["a", "b", "absent"])]
    tool("slices").in_turn({"a": Side("a"), "b": Side("b")}, questions, 2, 3, lambda line: None)
    assert asked == [("a", 1), ("b", 1), ("a", 4), ("b", 4)] * 2


def test_the_expected_speed_up_counts_the_drafts_own_time(tool):
    assert tool("decoding").expected(3.0, 4, 30.0, 40.0, 5.0) == pytest.approx(1.5)
    assert tool("decoding").expected(1.0, 0, 30.0, 30.0, 5.0) == 1


def test_decoding_leaves_the_prompt_and_its_token_out(tool):
    request = {"tokens": [5, 6, 7, 8, 9], "times_ns": [[4_000_000_000, 1], [5_000_000_000, 3], [6_000_000_000, 1]],
               "draft_ns": 400_000_000, "target_ns": 1_500_000_000}
    decoding = tool("decoding")
    decoded = decoding.Decoded(request)
    assert (decoded.tokens, decoded.steps, decoded.seconds) == (4, 2, 2.0)
    assert decoding.speed([decoded, decoded]) == 2.0
    assert decoding.tau([decoded]) == 2.0
    assert decoding.step_ms([decoded]) == pytest.approx([200, 750, 50])


def test_the_peers_own_words_give_its_speed(tool):
    said = ("0.06.071.299 I encoded   19 tokens in    0.323 seconds, speed:   58.870 t/s\n"
            "0.06.071.323 I decoded   68 tokens in    3.842 seconds, speed:   17.699 t/s\n")
    decoding = tool("decoding")
    assert decoding.peer_speed(said) == (68, 3.842)
    with pytest.raises(decoding.NotThere, match="printed no speed"):
        decoding.peer_speed("error: unknown argument")


@pytest.mark.parametrize("record, asks", [
    ({"task_id": "HumanEval/0", "prompt": "def f(x):\n"}, "def f(x):"),
    ({"id": "s0", "question": [[{"role": "user", "content": "Area?"}]], "function": [{"name": "area"}]}, "Area?"),
    ({"question_id": 81, "turns": ["Write a post.", "Again."]}, "Write a post."),
    ({"id": "x", "messages": [{"role": "user", "content": "Hello"}]}, "Hello"),
])
def test_public_sets_become_chats(tool, record, asks):
    chat = tool("texts").messages(record)
    assert chat[-1]["role"] == "user" and asks in chat[-1]["content"]


def test_a_table_prints_as_text_markdown_and_json(tool):
    table = tool("tables").Table("1. Rows", ["rows", "ms"], remarks=["said"])
    table.add(1, 0.5)
    table.add(16, None)
    assert table.markdown().splitlines()[2:6] == ["| rows | ms |", "|---:|---:|", "| 1 | 0.50 |", "| 16 | - |"]
    assert table.text().splitlines()[0] == "1. Rows"
    assert table.as_json()["rows"] == [{"rows": 1, "ms": 0.5}, {"rows": 16, "ms": None}]


def test_without_the_peer_its_columns_are_empty_and_that_is_said(source, program):
    ran = compare(source, program, "--points", "1,2,3,4", "--peer-python", "/bin/false", "--json", "--isas", "portable")
    assert ran.returncode == 0, ran.stderr
    assert "llama.cpp is not here" in ran.stderr
    roofline, beside, prefill, draft = json.loads(ran.stdout)["tables"]
    assert [row["rows"] for row in roofline["rows"]] == [1, 2, 3, 4, 5, 6, 8, 12, 16]
    assert all(row["llama.cpp ms"] is None and row["redline ms"] > 0 for row in beside["rows"])
    assert [row[""] for row in prefill["rows"]] == ["redline"]
    assert draft["rows"][0]["x the target's row"] > 0


STAND_IN = """
import json, sys
print(json.dumps({"model": "stand-in"}), flush=True)
for line in sys.stdin:
    print(json.dumps({"ms": [1e9] * int(line.split()[2]), "tokens_per_s": 1e-9}), flush=True)
"""


def test_beside_a_peer_every_width_has_a_ratio(source, program, tmp_path):
    (tmp_path / "llama_cpp.py").write_text(STAND_IN + "sys.exit(0)\n")
    python = tmp_path / "python"  # imports the stand-in as llama_cpp; as a server it is the stand-in
    python.write_text(f'#!/bin/sh\n[ "$1" = -c ] && exit 0\nexec {sys.executable} {tmp_path}/llama_cpp.py\n')
    python.chmod(0o755)
    ran = compare(source, program, "--points", "2,3,4", "--peer-python", str(python), "--json")
    assert ran.returncode == 0, ran.stderr
    beside, prefill, draft = json.loads(ran.stdout)["tables"]
    assert all(0 < row["ratio"] < 1e-3 for row in beside["rows"])
    assert [row[""] for row in prefill["rows"]] == ["redline", "llama.cpp"]
    assert "times llama.cpp's" in prefill["remarks"][0]
    assert 0 < draft["rows"][0]["x llama.cpp's"] < 1e-3


@pytest.mark.parametrize("arguments, told", [(["--points", "7"], "no point 7"),
                                             (["--json", "--markdown"], "not allowed with")])
def test_what_it_cannot_do_is_refused(source, program, arguments, told):
    ran = compare(source, program, *arguments)
    assert (ran.returncode, told in ran.stderr) == (2, True), ran.stderr


def test_point_5_waits_for_texts(source, program):
    ran = compare(source, program, "--points", "5", "--alone")
    assert ran.returncode == 0
    assert "point 5 is left out" in ran.stderr


def test_answers_are_compared_with_plain_decoding_and_with_what_their_forwards_take(source, program, tmp_path):
    texts = tmp_path / "chat.jsonl"
    texts.write_text("".join(json.dumps({"question_id": k, "turns": [f"Say {k}."]}) + "\n" for k in range(3)))
    model = "smollm2-135m-instruct-q4_1"
    ran = compare(source, program, "--points", "5", "--alone", "--chat", str(texts), "--items", "2", "--slice", "1",
                  "--depths", "1,2", "--tokens", "8", "--target", model, "--draft", model, "--json",
                  "--answer-context", "32")
    assert ran.returncode == 0, ran.stderr
    table, = json.loads(ran.stdout)["tables"]
    assert [row["K"] for row in table["rows"]] == [1, 2]
    assert all(row["identical"] == "2/2" for row in table["rows"])
    assert sum("best" in row["set"] for row in table["rows"]) == 1
    for row in table["rows"]:  # the target drafts for itself: at temperature 0 every draft is accepted
        assert row["tau"] > 1.5
        assert row["measured/expected"] > 0 and row["draft ms"] > 0 and row["rest ms"] > 0


def test_many_sequences_are_shown_with_their_best_draft_and_where_that_pays(tool):
    point, depths = tool("sequences"), [1, 2, 3, 4]

    def slice_of(slowness):
        speeds = {(n, depth): n * 10 / slowness * (1 + depth / 10 if n <= 2 else 1 - depth / 10)
                  for n in point.SEQUENCES for depth in [0, *depths]}
        return {of: {"tokens_per_s": speed, "identical": of[0]} for of, speed in speeds.items()}

    table = point.table_of([slice_of(1), slice_of(3)], {}, depths, "requantize q4_0")
    rows = {row["sequences"]: row for row in table.as_json()["rows"]}
    assert {n: row["best K"] for n, row in rows.items()} == {1: 4, 2: 4, 3: 1, 4: 1, 8: 1}
    assert rows[2]["x plain"] == pytest.approx(1.4)
    assert rows[8]["x one"] == 8 and rows[8]["identical"] == "8/8" and rows[8]["llama.cpp"] is None
    assert table.remarks == ["Speculation is ahead of plain decoding with 1, 2 sequences; not ahead of plain decoding with "
                             "3, 4, 8 sequences.", "The draft runs with requantize q4_0."]


def test_one_slow_slice_of_answers_does_not_decide_a_ratio(tool):
    decoding = tool("decoding")

    class Slice(decoding.Slice):
        def __init__(self, plain_s, drafted_s):
            def decoded(seconds, steps):
                return decoding.Decoded({"tokens": [1, 2, 3, 4, 5], "draft_ns": 0, "target_ns": 0,
                                         "times_ns": [[0, 1]] + [[int(seconds * 1e9), 4 // steps]] * steps})
            self.cells = {"plain": [decoded(plain_s, 4)], "k1": [decoded(drafted_s, 2)]}
            self.ms = {("target", 1): 30.0, ("target", 2): 30.0, ("draft", 1): 10.0}
            self.peer = [2.0]

    row = dict(zip(decoding.HEADS[1:], decoding.figures([Slice(4, 3), Slice(40, 3), Slice(4, 3)], 1)))
    assert row["tau"] == 2
    assert row["expected"] == pytest.approx(1.5)
    assert row["measured"] == pytest.approx(4 / 3)
    assert row["measured/expected"] == pytest.approx(8 / 9)
    assert row["x llama.cpp"] == pytest.approx(2 / 3)
    assert row["identical"] == "3/3"
