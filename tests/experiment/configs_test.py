# SPDX-License-Identifier: Apache-2.0
"""Every shipped experiment can be planned: its plugins, parameters and data are there."""
import os
import subprocess
from pathlib import Path

import pytest

CONFIGS = sorted((Path(__file__).parents[2] / "experiments").glob("*.yaml"))


@pytest.mark.skipif("REDLINE_REAL_PAIR" not in os.environ, reason="names models of 1.5 GiB")
@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: c.stem)
def test_a_shipped_experiment_can_be_planned(config):
    plan = subprocess.run([os.environ["REDLINE_PROGRAM"], "run", config, "--dry-run"],
                          capture_output=True, text=True, timeout=60)
    assert plan.returncode == 0, plan.stdout + plan.stderr
    assert "nothing was run" in plan.stdout
