# SPDX-License-Identifier: Apache-2.0
"""Point 8: many sequences at once, tokens a second of all."""
import json
from statistics import median

from tables import Table

SEQUENCES = [1, 2, 4, 8]


def ours(run):
    """{(sequences, mode): tokens a second} of one run of the engine."""
    result = json.loads(run.redline.run("bench", "engine", run.target, "--draft", run.draft, "--sequences",
                                        ",".join(map(str, SEQUENCES)), "--tokens", 32, "--repeats", 1, "--threads",
                                        run.threads, "--json"))
    return {(r["sequences"], r["mode"]): r["tokens_per_s"] for r in result["runs"]}


def sequences(run):
    peer = run.peer and run.peer.forwards(run.paths[run.target], 0, sequences=max(SEQUENCES))
    mine, theirs = {}, {}
    for number in range(1, run.rounds + 1):
        for of, speed in ours(run).items():
            mine.setdefault(of, []).append(speed)
        for count in SEQUENCES if peer else []:
            theirs.setdefault(count, []).append(peer.ask("batch", count, 32)["tokens_per_s"])
        run.say(f"slice {number} of {run.rounds}")
    table = Table("8. Many sequences at once, tokens a second of all", [
        "sequences", "plain", "x one", "speculative", "x plain", "llama.cpp", "plain x llama.cpp"])
    for count in SEQUENCES:
        plain, speculative = mine[count, "plain"], mine[count, "speculative"]
        pairs = [a / b for a, b in zip(plain, theirs.get(count, []))]
        table.add(count, median(plain), median(a / b for a, b in zip(plain, mine[1, "plain"])), median(speculative),
                  median(a / b for a, b in zip(speculative, plain)), median(theirs[count]) if peer else None,
                  median(pairs) if pairs else None)
    run.close({"llama.cpp": peer} if peer else {})
    return table
