# SPDX-License-Identifier: Apache-2.0
"""Points 1 to 4: forwards of the target and the draft, beside the roofline and beside the peer."""
from slices import in_turn
from tables import Table

WIDTHS = [1, 2, 3, 4, 5, 6, 8, 12, 16]
PEER_WIDTHS = [1, 4, 6, 8, 16]
TREE, PROMPT = 32, 512


def described(name, server):
    limits = server.ask("limits")
    about = server.about
    return (f"{name}: {about['isa']}, {about['threads']} threads; reads {limits['read_bytes'] / 1e9:.1f} GB/s, "
            f"{limits['multiply_adds'] / 1e9:.0f} G multiply-adds/s, {limits['fmas'] / 1e9:.0f} G FMAs/s; a forward "
            f"{about['weight_bytes'] / 1e9:.3f} GB of weights, {about['multiply_adds_a_row'] / 1e9:.3f} G "
            "multiply-adds a row.")


def roofline(run):
    """Point 1: each width beside the least time it could take, with the best and with a forced set."""
    sides = {"best": run.redline.forwards(run.target, run.context)}
    for isa in run.isas:
        sides[isa] = run.redline.forwards(run.target, run.context, flags=["--isa", isa])
    pairs = in_turn(sides, [("chain", rows, list(sides)) for rows in WIDTHS], run.rounds, run.repeats, run.say)
    heads = ["rows"]
    for name in sides:
        heads += [f"{sides[name].about['isa']} ms", "roofline ms", "x roofline", "paired"]
    table = Table(f"1. A forward by rows behind {run.context} tokens", heads)
    for rows in WIDTHS:
        row = [rows]
        for name, server in sides.items():
            least, took = server.ask("chain", rows, 1)["roofline_ms"], pairs.median(("chain", rows), name)
            row += [took, least, took / least, pairs.of_roofline(("chain", rows), name)]
        table.add(*row)
    table.remarks = [described("redline", server) for server in sides.values()]
    table.remarks.append("Roofline: by the best rates of the run. Paired: by how fast memory was read in the same slice.")
    run.close(sides)
    return table


def against_the_peer(run):
    """Point 2: the same widths of both in turn, and a tree against a chain of ours."""
    sides = run.both(run.target, widest=TREE)
    questions = [("chain", rows, ["redline", "llama.cpp"]) for rows in PEER_WIDTHS]
    pairs = in_turn(sides, questions + [("tree", TREE, ["redline"]), ("chain", TREE, ["redline"])], run.rounds,
                    run.repeats, run.say)
    table = Table(f"2. A forward by rows behind {run.context} tokens, against llama.cpp",
                  ["rows", "redline ms", "llama.cpp ms", "ratio"])
    for kind, rows, _ in questions:
        asked = (kind, rows)
        table.add(rows, pairs.median(asked, "redline"), pairs.median(asked, "llama.cpp"),
                  pairs.ratio(asked, "redline", "llama.cpp"))
    chain, tree = ("chain", TREE), ("tree", TREE)
    table.remarks = [f"A tree of {TREE} rows takes {pairs.ratio(tree, 'redline', 'redline', chain):.2f} of a chain of as "
                     f"many ({pairs.median(tree, 'redline'):.1f} and {pairs.median(chain, 'redline'):.1f} ms)."]
    run.close(sides)
    return table


def prefill(run):
    """Point 3: rows a second of a long prompt."""
    sides = run.both(run.target)
    asked = ("prompt", PROMPT)
    pairs = in_turn(sides, [(*asked, ["redline", "llama.cpp"])], run.rounds, 1, run.say)
    table = Table(f"3. A prompt of {PROMPT} rows", ["", "ms", "rows/s"])
    for side in sides:
        table.add(side, pairs.median(asked, side), PROMPT / pairs.median(asked, side) * 1e3)
    ratio = pairs.ratio(asked, "llama.cpp", "redline")
    table.remarks = [f"redline's rows a second are {ratio:.2f} times llama.cpp's."] if ratio else []
    run.close(sides)
    return table


def draft(run):
    """Point 4: a row of the draft, against the peer's and against a row of the target."""
    sides = run.both(run.draft)
    sides["target"] = run.redline.forwards(run.target, run.context)
    if run.draft_flags:
        sides["options"] = run.redline.forwards(run.draft, run.context, flags=run.draft_flags)
    pairs = in_turn(sides, [("chain", 1, list(sides))], run.rounds, 4 * run.repeats, run.say)
    asked = ("chain", 1)
    table = Table(f"4. A row of the draft behind {run.context} tokens", ["", "ms", "x llama.cpp's", "x the target's row"])
    named = {"redline": "redline", "options": f"redline, {run.draft_label}", "llama.cpp": "llama.cpp"}
    for side, name in named.items():
        if side in sides:
            table.add(name, pairs.median(asked, side), pairs.ratio(asked, side, "llama.cpp"),
                      pairs.ratio(asked, side, "target"))
    run.close(sides)
    return table
