# SPDX-License-Identifier: Apache-2.0
"""One plot of what `redline bench engine --json` measured: throughput, time per token, shares of a step.
python3 -m redline_trace.bench_plot engine.json engine.png"""
import argparse
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"plain": "tab:gray", "speculative": "tab:red"}


def read(path):
    """The runs of a result, by mode, in order of sequences: of several lengths of a draft the fastest."""
    try:
        runs = sorted(json.loads(Path(path).read_text())["runs"], key=lambda r: r["tokens_per_s"])
        fastest = {mode: {r["sequences"]: r for r in runs if r["mode"] == mode} for mode in COLOURS}
        return {mode: [by_count[count] for count in sorted(by_count)] for mode, by_count in fastest.items()}
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise ValueError(f"{path} is no result of `redline bench engine --json`: {cause!r}") from cause


def throughput(axes, modes):
    for mode, runs in modes.items():
        axes.plot([r["sequences"] for r in runs], [r["tokens_per_s"] for r in runs], "o-",
                  color=COLOURS[mode], label=mode)
    axes.set(ylabel="tokens/s of all", ylim=(0, None))
    axes.legend(frameon=False)


def latency(axes, modes):
    for mode, runs in modes.items():
        counts = [r["sequences"] for r in runs]
        for of, line in (("median", "o-"), ("p95", ":")):
            axes.plot(counts, [r["token_ms"][of] for r in runs], line, color=COLOURS[mode], label=of)
    axes.set(ylabel="ms/token of one; dotted: p95", ylim=(0, None))


def shares(axes, modes):
    """Two bars for each number of sequences: plain, then speculative."""
    bars = [run for pair in zip(*modes.values()) for run in pair]
    places = [k + 0.15 * (1 if k % 2 == 0 else -1) for k in range(len(bars))]
    below = [0.0] * len(bars)
    for part in bars[0]["shares"]:
        heights = [100 * run["shares"][part] for run in bars]
        axes.bar(places, heights, bottom=below, label=part)
        below = [b + h for b, h in zip(below, heights)]
    axes.set(ylabel="% of a step", ylim=(0, 100))
    axes.set_xticks(places, [f"{run['sequences']}{run['mode'][0]}" for run in bars], fontsize="x-small")
    axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))


def plot(modes, target):
    figure, panels = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
    counts = [run["sequences"] for run in modes["plain"]]
    for draw, axes in zip((throughput, latency, shares), panels):
        draw(axes, modes)
        if draw is not shares:
            axes.set_xscale("log", base=2)
            axes.set_xticks(counts, counts)
            axes.minorticks_off()
        axes.set_xlabel("sequences" if draw is not shares else "sequences; p plain, s speculative")
    figure.savefig(target, dpi=80)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m redline_trace.bench_plot", description=__doc__)
    parser.add_argument("result", help="what `redline bench engine --json` printed")
    parser.add_argument("plot", help="the picture to write, e.g. engine.png or engine.svg")
    arguments = parser.parse_args()
    try:
        plot(read(arguments.result), arguments.plot)
    except (ValueError, OSError) as error:
        sys.exit(f"bench_plot: {error}")


if __name__ == "__main__":
    main()
