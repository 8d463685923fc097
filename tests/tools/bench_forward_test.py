# SPDX-License-Identifier: Apache-2.0
"""What redline bench forward prints, stores and answers. Figures are not judged: machines differ."""
import json
import subprocess

import pytest


def bench(program, *arguments, said="", env=None):
    return subprocess.run([program, "bench", "forward", *map(str, arguments)], capture_output=True, text=True,
                          input=said, env=env)


@pytest.fixture(scope="module")
def result(program):
    ran = bench(program, "tiny", "--rows", "8,1,2", "--tree", 9, "--context", 64, "--repeats", 2, "--threads", 1,
                "--json")
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_each_width_has_its_time_and_the_least_it_could_take(result):
    assert [row["rows"] for row in result["rows"]] == [1, 2, 8]
    for row in result["rows"] + result["trees"]:
        assert row["median_ms"] > 0 and row["roofline_ms"] > 0
        assert row["x_roofline"] == pytest.approx(row["median_ms"] / row["roofline_ms"])
        assert row["x_roofline_paired"] > 0


def test_a_single_repeat_is_paired_with_a_probe_that_is_not_faster_than_the_best(program):
    ran = bench(program, "tiny", "--rows", "1", "--context", 64, "--repeats", 1, "--threads", 1, "--json")
    (row,) = json.loads(ran.stdout)["rows"]
    assert 0 < row["x_roofline_paired"] <= row["x_roofline"] * (1 + 1e-9)


def test_a_roofline_rises_with_the_rows(result):
    least = [row["roofline_ms"] for row in result["rows"]]
    assert least == sorted(least)


def test_its_terms_stand_beside_it(result):
    assert all(result["limits"][term] > 0 for term in ("read_bytes", "multiply_adds", "fmas"))
    assert result["weight_bytes"] > 0 and result["multiply_adds_a_row"] > 0
    read_ms = result["weight_bytes"] / result["limits"]["read_bytes"] * 1e3
    assert all(row["roofline_ms"] >= read_ms for row in result["rows"])


def test_the_table_has_a_line_for_each_width_and_tree(program):
    ran = bench(program, "tiny", "--rows", "1,3", "--tree", 4, "--repeats", 1, "--threads", 1)
    assert ran.returncode == 0, ran.stderr
    heads, *lines, remark = ran.stdout.splitlines()[-5:]
    assert heads.split() == ["rows", "median", "ms", "roofline", "ms", "x", "roofline", "paired"]
    assert "paired:" in remark
    assert [line.split()[0] for line in lines] == ["1", "3", "4"]
    assert "tree" in lines[2]


def test_served_questions_are_answered_line_by_line_and_mistakes_are_said(program):
    asks = ["chain 2 3", "tree 5 1", "prompt 70 1", "limits", "chain 99 1", "round 2 1", "chain 2"]
    ran = bench(program, "tiny", "--serve", "--context", 32, "--threads", 1, said="\n".join(asks) + "\n")
    assert ran.returncode == 0, ran.stderr
    about, chain, tree, prompt, limits, *mistakes = map(json.loads, ran.stdout.splitlines())
    assert about["context"] == 32 and about["threads"] == 1
    assert len(chain["ms"]) == 3 and 0 < chain["roofline_ms"] <= chain["roofline_now_ms"]
    assert len(tree["ms"]) == len(prompt["ms"]) == 1
    assert limits["read_bytes"] > 0
    assert "99 rows" in mistakes[0]["error"]
    assert all("expected chain" in mistake["error"] for mistake in mistakes[1:])


def test_stored_costs_are_those_that_runs_read(program):
    ran = bench(program, "tiny", "--rows", 1, "--repeats", 1, "--threads", 1, "--store", "--context", 16)
    assert ran.returncode == 0, ran.stderr
    assert "widths at context" in ran.stderr
    assert "/costs/tiny-" in ran.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments, told", [
    (["tiny", "--rows", "0"], "rows from 1"),
    (["tiny", "--context", "-1"], "context of 0 or more"),
    (["tiny", "--context", "1020"], "takes 1024 positions"),
    (["tiny", "--json", "--serve"], "--serve"),
    (["no-such-model"], "no-such-model"),
])
def test_what_cannot_be_timed_is_refused_with_its_reason(program, arguments, told):
    ran = bench(program, *arguments)
    assert (ran.returncode, told in ran.stderr) == (2, True), ran.stderr
