# SPDX-License-Identifier: Apache-2.0
"""What every Python test may ask for: the program, the source tree, the build folder."""
import os
from pathlib import Path

import pytest

SOURCE = Path(os.environ.get("REDLINE_SOURCE", Path(__file__).parents[1]))
BUILD = Path(os.environ.get("REDLINE_BUILD", SOURCE / "build" / "release"))


@pytest.fixture(scope="session")
def source():
    return SOURCE


@pytest.fixture(scope="session")
def build():
    return BUILD


@pytest.fixture(scope="session")
def program():
    return Path(os.environ.get("REDLINE_PROGRAM", BUILD / "bin" / "redline"))


def pytest_collection_modifyitems(items):
    if os.environ.get("REDLINE_REAL_PAIR"):
        return
    skip = pytest.mark.skip(reason="needs the Qwen pair: tools/test --real-pair")
    for item in items:
        if item.get_closest_marker("real_pair"):
            item.add_marker(skip)
