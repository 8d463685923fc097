# SPDX-License-Identifier: Apache-2.0
"""`redline run` from outside: folders, resumption, kills, failures, exit codes, figures."""
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

PROGRAM = os.environ.get("REDLINE_PROGRAM")
SOURCE = Path(os.environ.get("REDLINE_SOURCE", Path(__file__).resolve().parents[2]))
MODEL = "smollm2-135m-instruct-q4_1"
SMOKE = SOURCE / "experiments" / "smoke.yaml"
pytestmark = pytest.mark.skipif(not PROGRAM, reason="REDLINE_PROGRAM is not set")


def redline(*arguments, cwd, check=None):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, text=True, capture_output=True)
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    return done


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def cells(run):
    return {entry["name"]: run / "cells" / entry["folder"]
            for entry in json.loads((run / "config.resolved.json").read_text())["cells"]}


def open_trace(path):
    try:
        return h5py.File(path, "r")
    except OSError:
        return h5py.File(path, "r", swmr=True)


def traced(cell):
    """Output tokens by request key over all attempts, the last one winning."""
    found = {}
    for path in sorted(cell.glob("trace-*.h5")):
        with open_trace(path) as trace:
            keys = trace["requests/request_key"][:]
            ends, data = trace["requests/output_tokens/indptr"][:], trace["requests/output_tokens/data"][:]
            steps = set(trace["steps/request_key"][:].tolist())
            for row, key in enumerate(keys.tolist()):
                assert key in steps
                found[key] = data[ends[row]:ends[row + 1]].tolist()
    return found


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """One run of experiments/smoke.yaml."""
    root = tmp_path_factory.mktemp("smoke")
    done = redline("run", SMOKE, "--out", root / "run", cwd=root, check=0)
    return root / "run", done


def test_a_run_leaves_what_it_should(smoke):
    run, done = smoke
    for name in ("config.yaml", "config.resolved.json", "overrides.txt", "provenance.json", "run.log",
                 "report.txt", "report.json"):
        assert (run / name).is_file(), name
    assert (run / "config.yaml").read_text() == SMOKE.read_text()
    assert list(cells(run)) == ["plain", "ngram", "self"]
    for cell in cells(run).values():
        assert {p.name for p in cell.iterdir()} == {"trace-000.h5", "requests.jsonl", "summary.json", "DONE"}
    assert "tokens/s" in done.stdout and str(run) in done.stdout
    provenance = json.loads((run / "provenance.json").read_text())
    assert len(provenance["build"]["sha256"]) == 64 and provenance["machine"]["cpu"]
    assert provenance["models"][MODEL]["sha256"].startswith("b179c952")
    assert set(provenance["plugins"]) >= {"draft_none", "draft_ngram", "accept_match", "length_fixed"}


def test_greedy_cells_equal_the_baseline_and_a_perfect_draft_is_accepted(smoke):
    run, _ = smoke
    report = {row["cell"]: row for row in json.loads((run / "report.json").read_text())["cells"]}
    for name in ("ngram", "self"):
        assert report[name]["outputs"]["identical"] == report[name]["outputs"]["compared"] == 3
        assert report[name]["speedup"] > 0
    spec = report["self"]["summary"]["spec"]
    assert spec["draft_acceptance_rate"] == 1
    assert spec["drafted"] == spec["accepted_by_rule"] > 0
    assert report["plain"]["summary"]["spec"]["drafted"] == 0
    assert report["plain"]["summary"]["spec"]["draft_acceptance_rate"] is None
    assert report["plain"]["baseline"] == ""


def test_warm_up_is_recorded_and_left_out(smoke):
    for cell in cells(smoke[0]).values():
        requests = lines(cell / "requests.jsonl")
        assert [r["is_warmup"] for r in requests] == [True, False, False, False]
        assert json.loads((cell / "summary.json").read_text())["completed"] == 3
        with open_trace(cell / "trace-000.h5") as trace:
            assert trace["requests/is_warmup"][:].astype(bool).tolist() == [True, False, False, False]


def test_the_trace_holds_the_same_requests(smoke):
    for cell in cells(smoke[0]).values():
        assert {r["key"]: r["tokens"] for r in lines(cell / "requests.jsonl")} == traced(cell)


def test_strategies_are_compared_over_the_same_requests_and_foretold_agrees(tmp_path):
    config = tmp_path / "pair.yaml"
    config.write_text(f"""redline: 1
name: pair
model: {{target: {MODEL}}}
sampler: {{name: standard, temperature: 0.8}}
length: {{name: length_fixed, max_depth: 2}}
engine: {{max_model_len: 512}}
dataset: [{{path: {SOURCE}/datasets/finance_json.jsonl, limit: 2, score: json_fields}}]
generate: {{max_tokens: 12}}
seeds: [1, 2]
matrix:
  plain: {{}}
  self: {{draft: {{name: draft_model, model: {MODEL}}}, accept: accept_ratio}}
compare: [{{of: self, to: plain}}]
""")
    redline("run", config, "--out", "run", cwd=tmp_path, check=0)
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    rows = {row["measure"]: row for row in report["compared"]}
    assert rows["score"]["requests"] == 4 and rows["score"]["real"] is None  # too few
    assert "tokens/s by cost table" in rows and "accept length" not in rows  # a plain cell has none
    [foretold] = report["foretold"]
    assert foretold["cell"] == "self" and foretold["requests"] == 4 and foretold["agrees"] is None
    for cell in cells(tmp_path / "run").values():
        for line in lines(cell / "requests.jsonl"):
            assert 0 <= line["score"] <= 1 and line["tally"]["cost_ns"] > 0
    for form in ("--json", "--markdown"):
        assert "by cost table" in redline("report", "run", form, cwd=tmp_path, check=0).stdout
    config.write_text(config.read_text().replace("to: plain", "to: plian"))
    wrong = redline("run", config, "--out", "wrong", cwd=tmp_path, check=2).stderr
    assert "pair.yaml:13" in wrong and "did you mean 'plain'" in wrong


def test_the_summary_is_recomputed_from_the_trace(smoke):
    import redline_trace  # tools/analysis, on PYTHONPATH

    for cell in cells(smoke[0]).values():
        summary, figures = json.loads((cell / "summary.json").read_text()), redline_trace.recompute(cell)
        known = {"cell", "baseline", "attempts", "downgraded", "reproducible", "memory_bytes", "identity"}
        assert set(summary) - known == set(figures) and set(summary["spec"]) == set(figures["spec"])
        compare(summary, figures)


TIMES = ("_ms", "_share", "_seconds", "duration", "throughput")


def compare(summary, figures, path=""):
    """Every figure both know must agree: counts to the last bit but one, times (a step's end is read twice, by
    the engine and by the trace) within 2 %."""
    for key in set(summary) & set(figures):
        mine, theirs = summary[key], figures[key]
        if isinstance(mine, dict):
            compare(mine, theirs, f"{path}{key}.")
        elif mine is None or theirs is None:
            assert mine is None and (theirs is None or np.isnan(theirs)), path + key
        elif not isinstance(mine, str):
            near = {"rtol": 0.02, "atol": 0.1} if key.endswith(TIMES) else {"rtol": 1e-12, "atol": 1e-12}
            assert np.allclose(np.array(mine, float), np.array(theirs, float), **near), path + key


def test_a_dry_run_writes_nothing(tmp_path):
    done = redline("run", SMOKE, "--dry-run", "-m", "length.max_depth=2,3", cwd=tmp_path, check=0)
    assert "ngram-max_depth2" in done.stdout and "numeric_mode: \"row_invariant\"" in done.stdout
    assert list(tmp_path.iterdir()) == []
    resolved = json.loads(redline("run", SMOKE, "--dry-run", "--json", cwd=tmp_path, check=0).stdout)
    assert resolved["cells"][0]["engine"]["kv_dtype"] == "f16"


@pytest.mark.parametrize("arguments, code, words", [
    (["generate.max_token=3"], 2, "max_tokens"),
    (["draft=draft_ngran"], 2, "draft_ngram"),
    (["engine.tp=8"], 2, "degrees that work: 1, 3, 9"),
    (["model.target=nothing"], 2, "nothing"),
    (["dataset.0.path=none.jsonl"], 2, "none.jsonl"),
    (["length.max_depth=-1"], 2, "max_depth"),
    (["--resume", "nowhere"], 2, "resume"),
    (["--shard", "3/2"], 2, "shard"),
    (["--plugin", "/etc/passwd"], 3, "/etc/passwd"),
    (["engine.memory_utilization=0.0001"], 4, "target KV"),
])
def test_exit_codes_and_messages(tmp_path, arguments, code, words):
    done = redline("run", SMOKE, *arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert words in done.stderr


def test_a_crash_costs_one_cell(tmp_path):
    process = start(tmp_path, "generate.max_tokens=32")
    kill_child(process, lambda: begun(tmp_path / "run", "ngram"))
    process.communicate()
    assert process.returncode == 1
    run = tmp_path / "run"
    assert "signal 9" in (cells(run)["ngram"] / "FAILED").read_text()
    assert (cells(run)["self"] / "DONE").exists() and (cells(run)["plain"] / "DONE").exists()
    redline("run", "--resume", run, cwd=tmp_path, check=0)
    assert (cells(run)["ngram"] / "DONE").exists() and not (cells(run)["ngram"] / "FAILED").exists()


def test_an_interrupted_run_is_resumed_to_the_same_result(smoke, tmp_path):
    process = start(tmp_path)
    wait(lambda: begun(tmp_path / "run", "plain"))
    process.send_signal(signal.SIGINT)
    output = process.communicate()[1]
    assert process.returncode == 130 and "--resume" in output
    redline("run", "--resume", tmp_path / "run", cwd=tmp_path, check=0)
    for name, cell in cells(tmp_path / "run").items():
        expected = {r["id"]: r["tokens"] for r in lines(cells(smoke[0])[name] / "requests.jsonl") if not r["is_warmup"]}
        got = [r for r in lines(cell / "requests.jsonl") if not r["is_warmup"]]
        assert {r["id"]: r["tokens"] for r in got} == expected and len(got) == len(expected)


def test_whatever_was_reported_finished_survives_twenty_kills(tmp_path):
    (tmp_path / "one.yaml").write_text(
        "redline: 1\nname: one\n"
        f"model: {{target: {MODEL}}}\n"
        "sampler: {name: standard, temperature: 0.8}\n"
        "engine: {max_model_len: 256, threads: 1}\n"
        f"dataset: [{{path: {SOURCE}/datasets/chat.jsonl, limit: 12}}]\n"
        "generate: {max_tokens: 4, warmup: 0}\n"
        "matrix: {n: {draft: draft_ngram}}\n")
    run, random_moment = tmp_path / "run", random.Random(3)
    process = start(tmp_path, config=tmp_path / "one.yaml")
    kept, kills = {}, 0
    for _ in range(200):
        wait(lambda: run.exists() or process.poll() is not None)
        time.sleep(random_moment.uniform(0.05, 1.2))
        if process.poll() is not None and process.returncode == 0:
            shutil.rmtree(run)  # done before twenty kills: begin anew
            kept = {}
            process = start(tmp_path, config=tmp_path / "one.yaml")
            continue
        for child in children(process):
            os.kill(child, signal.SIGKILL)
        process.kill()
        process.wait()
        kills += 1
        for cell in cells(run).values():
            reported = {r["key"]: r["tokens"] for r in lines(cell / "requests.jsonl")} if (
                cell / "requests.jsonl").exists() else {}
            assert kept.get(cell, {}).items() <= reported.items()
            kept[cell] = reported
            in_trace = traced(cell)
            for key, tokens in reported.items():
                assert in_trace[key] == tokens
        if kills == 20:
            break
        process = subprocess.Popen([PROGRAM, "run", "--resume", run], cwd=tmp_path, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert kills == 20
    redline("run", "--resume", run, cwd=tmp_path, check=0)
    for cell in cells(run).values():
        keys = [r["key"] for r in lines(cell / "requests.jsonl")]
        assert len(keys) == len(set(keys)) == 12


def start(folder, *overrides, config=SMOKE):
    return subprocess.Popen([PROGRAM, "run", config, "--out", folder / "run", *overrides], cwd=folder, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait(condition, seconds=120):
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("waited in vain")


def begun(run, name):
    """The cell's process writes its trace."""
    return run.exists() and any(cells(run)[name].glob("trace-*.h5"))


def children(process):
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(pid) for pid in listed.read_text().split()] if listed.exists() else []


def kill_child(process, condition):
    wait(condition)
    for child in children(process):
        os.kill(child, signal.SIGKILL)
