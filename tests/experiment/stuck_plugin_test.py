# SPDX-License-Identifier: Apache-2.0
"""A plugin that does not come back ends its cell, not the run: named, exit code 3, the trace readable."""
import subprocess

import h5py
import pytest

CONFIG = """
redline: 1
name: stuck
model: {{target: smollm2-135m-instruct-q4_1}}
plugin_path: [{plugin}]
engine: {{max_model_len: 256, plugin_slow_s: 0.2, plugin_limit_s: {limit}}}
dataset: [{{path: {data}, limit: 1}}]
generate: {{max_tokens: 6, warmup: 0, ignore_eos: true}}
matrix:
  plain: {{}}
  stuck: {{draft: {{name: faulty_drafter, model: smollm2-135m-instruct-q4_1, how: never ends}}}}
"""


@pytest.fixture
def plugin(build):
    file = build / "tests" / "engine" / "plugins" / "engine_faulty_drafter.so"
    if not file.exists():
        pytest.skip("the tests' plugins are not built")
    return file


def test_a_plugin_that_never_ends_is_named_and_costs_its_cell(program, source, plugin, tmp_path):
    config = tmp_path / "stuck.yaml"
    config.write_text(CONFIG.format(plugin=plugin, limit=1, data=source / "datasets" / "code.jsonl"))
    done = subprocess.run([program, "run", config, "--out", tmp_path / "run"], text=True, capture_output=True)
    assert done.returncode == 3, done.stdout + done.stderr
    assert done.stderr.count("faulty_drafter.propose, sequence") >= 2  # the warning, the end
    cells = {path.name.split("-")[0]: path for path in (tmp_path / "run" / "cells").iterdir()}
    assert (cells["plain"] / "DONE").exists()
    failure = (cells["stuck"] / "FAILED").read_text()
    assert "faulty_drafter.propose" in failure and "engine.plugin_limit_s" in failure
    trace = cells["stuck"] / "trace-000.h5"
    try:
        file = h5py.File(trace, "r")
    except OSError:
        file = h5py.File(trace, "r", swmr=True)
    with file:
        assert "steps" in file
