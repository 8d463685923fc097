# SPDX-License-Identifier: Apache-2.0
"""`redline run` over ranks: SmolLM2 on three, threads and processes, and what a lost rank costs."""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.real_pair, pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun")]
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
CONFIG = """
redline: 1
name: ranks
model: {{target: smollm2-135m-instruct-q4_1}}
sampler: {{name: standard, temperature: 0}}
dataset: [{{path: {data}, limit: 1}}]
generate: {{max_tokens: {tokens}, warmup: 0, ignore_eos: true}}
engine: {{tp: 3, max_model_len: 1024}}
matrix: {{plain: {{}}, ngram: {{draft: draft_ngram}}}}
"""
LAUNCHER = "parallel.launcher=mpirun -n 3"


@pytest.fixture
def start(program, source, tmp_path):
    def begin(name, *overrides, tokens=16):
        config = tmp_path / f"{name}.yaml"
        config.write_text(CONFIG.format(data=source / "datasets" / "code.jsonl", tokens=tokens))
        run = tmp_path / name
        return run, subprocess.Popen([program, "run", config, "--out", run, *overrides], text=True,
                                     env=os.environ | MPI, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return begin


def tokens(run):
    return {cell.name.split("-")[0]: json.loads((cell / "requests.jsonl").read_text())["tokens"]
            for cell in (run / "cells").iterdir()}


def process_of_rank(run, rank):
    """The follower's process; it has begun to serve when rank 0 has begun to write its trace."""
    for _ in range(600):
        time.sleep(0.1)
        if not list(run.glob("cells/*/trace-000.h5")):
            continue
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                mine = f"OMPI_COMM_WORLD_RANK={rank}".encode() in (folder / "environ").read_bytes().split(b"\0")
                if mine and str(run).encode() in (folder / "cmdline").read_bytes():
                    return int(folder.name)
            except OSError:
                continue
    raise AssertionError("no such process")


def test_processes_write_what_threads_write_and_rank_0_alone_writes(start):
    runs = {name: start(name, *overrides) for name, overrides in {"threads": [], "processes": [LAUNCHER]}.items()}
    for run, process in runs.values():
        output, _ = process.communicate(timeout=200)
        assert process.returncode == 0, output
        assert "target on rank 2 weights" in output
        for cell in (run / "cells").iterdir():
            assert {p.name for p in cell.iterdir()} == {"trace-000.h5", "requests.jsonl", "summary.json", "DONE"}
            assert json.loads((cell / "summary.json").read_text())["identity"]["tp"] == 3
    threads, processes = (tokens(run) for run, _ in runs.values())
    assert threads == processes
    assert threads["plain"] == threads["ngram"] and len(threads["plain"]) == 16


@pytest.mark.parametrize("lost, words", [(signal.SIGKILL, "exit code"), (signal.SIGSTOP, "rank 1 did not reach")])
def test_a_lost_rank_fails_the_cell_within_the_limit(start, lost, words):
    run, process = start("lost", LAUNCHER, "parallel.rank_timeout_s=2", tokens=900)
    os.kill(process_of_rank(run, 1), lost)
    begin = time.monotonic()
    for _ in range(300):
        if list(run.glob("cells/*/FAILED")):
            break
        time.sleep(0.1)
    assert time.monotonic() - begin < 30
    process.terminate()
    process.communicate(timeout=60)
    assert words in next(run.glob("cells/*/FAILED")).read_text()
