# SPDX-License-Identifier: Apache-2.0
"""One plot of what `redline bench forward --json` measured, a panel a result: time by rows, beside the roofline.
python3 -m redline_trace.roofline_plot avx512.json avx2.json roofline.png"""
import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


class Curve(NamedTuple):
    """A result: what it was measured on, its limits a second, and a point a number of rows."""
    about: str
    read_bytes: float
    multiply_adds: float
    rows: list
    median_ms: list
    roofline_ms: list

    @property
    def crossing(self):
        """The rows up to which bytes bind. Of the two limits one is the same for all rows, to a per cent,
        and the other is in proportion to them: so it is where the last point's meets the first point's."""
        return self.rows[-1] * self.roofline_ms[0] / self.roofline_ms[-1]


def read(path):
    try:
        of = json.loads(Path(path).read_text())
        points = sorted((at["rows"], at["median_ms"], at["roofline_ms"]) for at in of["rows"])
        rows, median_ms, roofline_ms = map(list, zip(*points))
        about = f"{of['isa']}, {of['threads']} threads, behind {of['context']} tokens"
        return Curve(about, of["limits"]["read_bytes"], of["limits"]["multiply_adds"],
                     rows, median_ms, roofline_ms)
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise ValueError(f"{path} is no result of `redline bench forward --json`: {cause!r}") from cause


def draw(axes, curve, top):
    """No forward reaches the coloured part. A limit is dotted where the other one binds."""
    least, highest = curve.roofline_ms[0], curve.roofline_ms[-1]
    rows = [0, curve.crossing, 1.04 * curve.rows[-1]]
    for colour, label, ms, binds in (
            ("tab:blue", f"bytes, at {curve.read_bytes / 1e9:.0f} GB/s", [least] * 3, slice(0, 2)),
            ("tab:red", f"multiply-adds, at {curve.multiply_adds / 1e9:.0f} G/s",
             [0, least, 1.04 * highest], slice(1, 3))):
        axes.plot(rows, ms, ":", color=colour)
        axes.plot(rows[binds], ms[binds], color=colour, label=label)
        axes.fill_between(rows[binds], ms[binds], color=colour, alpha=0.12)
    axes.plot(curve.rows, curve.median_ms, "o-", color="black", label="measured")
    axes.set(xlim=(0, rows[-1]), ylim=(0, top),
             xlabel=f"rows of a forward; bytes bind up to {curve.crossing:.1f}")
    axes.set_title(curve.about, fontsize="medium")
    axes.set_xticks(curve.rows, curve.rows, fontsize="small")
    axes.legend(frameon=False, fontsize="small", loc="upper left")


def plot(curves, target):
    width = 4.2 * len(curves)
    figure, panels = plt.subplots(1, len(curves), figsize=(width, 3.4), layout="constrained", squeeze=False)
    for axes, curve in zip(panels[0], curves):
        draw(axes, curve, top=1.08 * max(max(c.median_ms) for c in curves))
    panels[0][0].set_ylabel("ms")
    figure.savefig(target, dpi=80)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m redline_trace.roofline_plot", description=__doc__)
    parser.add_argument("results", nargs="+", help="what `redline bench forward --json` printed")
    parser.add_argument("plot", help="the picture to write, e.g. roofline.png or roofline.svg")
    arguments = parser.parse_args()
    try:
        plot([read(result) for result in arguments.results], arguments.plot)
    except (ValueError, OSError) as error:
        sys.exit(f"roofline_plot: {error}")


if __name__ == "__main__":
    main()
