# SPDX-License-Identifier: Apache-2.0
"""The plot of redline bench forward, and where it says that bytes stop to bind."""
import json
import subprocess
import sys

import pytest

BYTES_MS, MS_A_ROW = 12.0, 3.0


def write(path, rows):
    """A result of a machine where four rows multiply for as long as the weights take to be read."""
    points = [{"rows": r, "median_ms": 2 * BYTES_MS, "roofline_ms": max(BYTES_MS, MS_A_ROW * r)} for r in rows]
    path.write_text(json.dumps({"isa": "avx2", "threads": 2, "context": 512, "rows": points,
                                "limits": {"read_bytes": 4e10, "multiply_adds": 4e11, "fmas": 1e11}}))
    return path


def plot(*arguments):
    return subprocess.run([sys.executable, "-m", "redline_trace.roofline_plot", *map(str, arguments)],
                          capture_output=True, text=True)


@pytest.mark.parametrize("rows, crossing", [
    ([16, 1, 8], 4),   # in any order
    ([1, 2, 3], 3),    # bytes bind for all
    ([5, 6, 16], 5),   # multiply-adds do
    ([2], 2),
])
def test_bytes_bind_up_to_the_rows_where_the_limits_meet(tmp_path, rows, crossing):
    from redline_trace.roofline_plot import read
    curve = read(write(tmp_path / "forward.json", rows))
    assert curve.crossing == pytest.approx(crossing)
    assert curve.rows == sorted(rows)


def test_the_plot_is_drawn_from_what_was_measured(program, tmp_path):
    ran = subprocess.run([program, "bench", "forward", "tiny", "--rows", "1,4", "--repeats", "1", "--threads", "1",
                          "--json"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    (tmp_path / "tiny.json").write_text(ran.stdout)
    drawn = plot(tmp_path / "tiny.json", write(tmp_path / "other.json", [1, 8]), tmp_path / "two.png")
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "two.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["[]", "{}", "no JSON", '{"rows": []}'])
def test_the_plot_of_something_else_is_refused_by_name(tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    drawn = plot(tmp_path / "other.json", tmp_path / "roofline.png")
    assert drawn.returncode == 1
    assert "other.json is no result of `redline bench forward --json`" in drawn.stderr


def test_a_result_without_a_width_is_refused(tmp_path):
    drawn = plot(write(tmp_path / "none.json", []), tmp_path / "roofline.png")
    assert drawn.returncode == 1 and "none.json is no result" in drawn.stderr
