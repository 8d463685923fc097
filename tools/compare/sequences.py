# SPDX-License-Identifier: Apache-2.0
"""Point 8: many sequences at once, tokens a second of all, and up to how many of them speculation pays."""
import json
from statistics import median

from tables import Table

SEQUENCES = [1, 2, 3, 4, 8]
PLAIN = 0  # a depth


def ours(run):
    """The runs of one run of the engine, by (sequences, depth)."""
    result = json.loads(run.redline.run("bench", "engine", run.target, "--draft", run.draft, *run.draft_flags,
                                        "--draft-tokens", ",".join(map(str, run.depths)), "--sequences",
                                        ",".join(map(str, SEQUENCES)), "--tokens", 32, "--repeats", 1, "--threads",
                                        run.threads, "--json"))
    return {(r["sequences"], r["draft_tokens"]): r for r in result["runs"]}


def ratio(ours, theirs):
    """The median of the pairs' ratios, or None where one side has not run."""
    return median(a / b for a, b in zip(ours, theirs)) if ours and theirs else None


def crossover(gains):
    """Where speculation pays, of {sequences: times plain's speed}."""
    ahead = [str(count) for count, gain in gains.items() if gain > 1]
    behind = [str(count) for count, gain in gains.items() if gain <= 1]
    return "Speculation is " + "; ".join(f"{words} plain decoding with {', '.join(counts)} sequences"
                     for words, counts in [("ahead of", ahead), ("not ahead of", behind)] if counts) + "."


def sequences(run):
    peer = run.peer and run.peer.forwards(run.paths[run.target], 0, sequences=max(SEQUENCES))
    slices, theirs = [], {}
    for number in range(1, run.rounds + 1):
        slices.append(ours(run))
        for count in SEQUENCES if peer else []:
            theirs.setdefault(count, []).append(peer.ask("batch", count, 32)["tokens_per_s"])
        run.say(f"slice {number} of {run.rounds}")
    run.close({"llama.cpp": peer} if peer else {})
    return table_of(slices, theirs, run.depths, run.draft_label)


def table_of(slices, theirs, depths, draft_label):
    def speeds(count, depth):
        return [runs[count, depth]["tokens_per_s"] for runs in slices]

    table = Table("8. Many sequences at once, tokens a second of all", [
        "sequences", "plain", "x one", "best K", "speculative", "x plain", "identical", "llama.cpp",
        "plain x llama.cpp"])
    gains = {}
    for count in SEQUENCES:
        plain = speeds(count, PLAIN)
        by_depth = {depth: ratio(speeds(count, depth), plain) for depth in depths}
        best = max(by_depth, key=by_depth.get)
        gains[count] = by_depth[best]
        same = min(runs[count, best]["identical"] for runs in slices)
        peer = theirs.get(count)
        table.add(count, median(plain), ratio(plain, speeds(1, PLAIN)), best, median(speeds(count, best)), gains[count],
                  f"{same}/{count}", median(peer) if peer else None, ratio(plain, peer))
    table.remarks.append(crossover(gains))
    if draft_label:
        table.remarks.append(f"The draft runs with {draft_label}.")
    return table
