# SPDX-License-Identifier: Apache-2.0
"""Point 5: whole answers, greedy, one at a time. What speculation gives, what the times of the forwards
and the accepted drafts let expect, and the peer's own speculation on the same prompts."""
import json
import re
import subprocess
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import texts
from servers import NotThere
from tables import Table

SPED = re.compile(r"decoded +(\d+) tokens in +([\d.]+) seconds")


class Decoded:
    """What decoding one item took, first token and prompt left out."""

    def __init__(self, request):
        times = request["times_ns"]
        self.ids = request["tokens"]
        self.seconds = (times[-1][0] - times[0][0]) / 1e9
        self.tokens, self.steps = sum(count for _, count in times[1:]), len(times) - 1
        self.draft, self.target = request["draft_ns"] / 1e9, request["target_ns"] / 1e9


def speed(decoded):
    return sum(d.tokens for d in decoded) / sum(d.seconds for d in decoded)


def tau(decoded):
    return sum(d.tokens for d in decoded) / sum(d.steps for d in decoded)


def step_ms(decoded):
    """Of a step: what drafting took, the target's forward, all else."""
    steps, whole = sum(d.steps for d in decoded), sum(d.seconds for d in decoded)
    draft, target = sum(d.draft for d in decoded), sum(d.target for d in decoded)
    return [1e3 * seconds / steps for seconds in (draft, target, whole - draft - target)]


def expected(tokens_a_step, depth, row_ms, rows_ms, draft_ms):
    """The speed-up if a step were its forwards and nothing else."""
    return tokens_a_step * row_ms / (rows_ms + depth * draft_ms)


def peer_speed(printed):
    """Tokens and seconds that llama-speculative-simple says it decoded."""
    found = SPED.search(printed)
    if not found:
        raise NotThere("llama-speculative-simple printed no speed: " + " ".join(printed.split()[-20:]))
    return int(found[1]), float(found[2])


def config(run, data):
    """An experiment: plain decoding, and each depth."""
    draft = {"name": "draft_model", "model": run.draft, **run.draft_options}
    cells = {f"k{depth}": {"draft": draft, "length": {"name": "length_fixed", "max_depth": depth}}
             for depth in run.depths}
    return {"redline": 1, "name": "compare", "model": {"target": run.target}, "matrix": {"plain": {}, **cells},
            "sampler": {"name": "standard", "temperature": 0}, "engine": {"threads": run.threads},
            "dataset": [{"path": str(data)}], "generate": {"max_tokens": run.tokens}, "seeds": [1]}


def redline_slice(run, items, folder):
    """{cell: [Decoded of each item]}."""
    data, cells = folder / "items.jsonl", {}
    data.write_text("".join(json.dumps(item) + "\n" for item in items))
    (folder / "config.yaml").write_text(json.dumps(config(run, data)))
    subprocess.run([run.redline.program, "run", folder / "config.yaml", "--out", folder / "run"], capture_output=True)
    for name in ["plain", *(f"k{depth}" for depth in run.depths)]:
        found = list((folder / "run" / "cells").glob(f"{name}-*/requests.jsonl"))
        if not found:
            raise NotThere(f"the cell {name} of a run left no requests: see redline run with {config(run, data)}")
        requests = [json.loads(line) for line in found[0].read_text().splitlines()]
        cells[name] = [Decoded(r) for r in requests if not r["is_warmup"]]
    return cells


def rendered(run, item, folder):
    """The prompt that redline makes of an item, in a file."""
    (folder / "chat.jsonl").write_text(json.dumps(item["messages"]) + "\n")
    text = run.redline.run("tokenize", run.target, "--file", folder / "chat.jsonl", "--chat", "--render")
    (folder / "prompt.txt").write_text(text[:-1])  # without the line's end
    return folder / "prompt.txt"


def peer_slice(run, items, folder):
    """Tokens a second of each item, decoded speculatively by the peer with its own draft length."""
    program, found = run.peer.speculative(), []
    for item in items:
        ran = subprocess.run(
            [program, "-m", run.paths[run.target], "-md", run.paths[run.draft], "--spec-type", "draft-simple", "-bf",
             rendered(run, item, folder), "--no-escape", "-n", str(run.tokens), "--temp", "0", "-c", "2048", "-t",
             str(run.threads), "-td", str(run.threads)], capture_output=True, text=True, errors="replace")
        tokens, seconds = peer_speed(ran.stdout + ran.stderr)
        found.append(tokens / seconds)
    return found


class Slice:
    """A few items: what both sides decoded, and the forwards timed right after."""

    def __init__(self, run, items, sides):
        with TemporaryDirectory() as folder:
            self.cells = redline_slice(run, items, Path(folder))
            asked = [("target", 1), *(("target", depth + 1) for depth in run.depths), ("draft", 1)]
            self.ms = {of: median(sides[of[0]].ask("chain", of[1], run.repeats)["ms"]) for of in asked}
            self.peer = peer_slice(run, items, Path(folder)) if run.peer and run.peer.speculative() else []

    def speed_up(self, depth):
        return speed(self.cells[f"k{depth}"]) / speed(self.cells["plain"])

    def expected(self, depth):
        return expected(tau(self.cells[f"k{depth}"]), depth, self.ms["target", 1], self.ms["target", depth + 1],
                        self.ms["draft", 1])


def figures(slices, depth):
    """Of one depth, in the order of HEADS: ratios are medians of the slices'."""
    plain, mine = ([d for s in slices for d in s.cells[cell]] for cell in ("plain", f"k{depth}"))
    peer = [tokens_per_s for s in slices for tokens_per_s in s.peer]
    beside = [ours.tokens / ours.seconds / theirs for ours, theirs in zip(mine, peer) if ours.tokens]
    same = sum(a.ids == b.ids for a, b in zip(mine, plain))
    return [depth, tau(mine), *(median(s.ms[of] for s in slices) for of in
                                [("target", 1), ("target", depth + 1), ("draft", 1)]),
            median(s.expected(depth) for s in slices), median(s.speed_up(depth) for s in slices),
            median(s.speed_up(depth) / s.expected(depth) for s in slices), *step_ms(mine), speed(plain), speed(mine),
            median(peer) if peer else None, median(beside) if beside else None, f"{same}/{len(plain)}"]


HEADS = ["set", "K", "tau", "T(1) ms", "T(K+1) ms", "T draft ms", "expected", "measured", "measured/expected", "draft ms",
         "target ms", "rest ms", "plain tokens/s", "redline tokens/s", "llama.cpp tokens/s", "x llama.cpp", "identical"]


def decoding(run):
    table = Table(f"5. Answers of up to {run.tokens} tokens, greedy, one at a time", HEADS)
    sides = {"target": run.redline.forwards(run.target, run.answer_context),
             "draft": run.redline.forwards(run.draft, run.answer_context, flags=run.draft_flags)}
    for name, path in run.sets.items():
        items, slices = texts.items(path, name, run.items), []
        for first in range(0, len(items), run.slice):
            slices.append(Slice(run, items[first:first + run.slice], sides))
            run.say(f"{name}: {min(first + run.slice, len(items))} of {len(items)} items")
        rows = [figures(slices, depth) for depth in run.depths]
        best = max(rows, key=lambda row: row[HEADS.index("measured") - 1])
        for row in rows:
            table.add(f"{name}, best" if row is best else name, *row)
    run.close(sides)
    table.remarks = [
        f"tau: tokens a step. T: of forwards behind {run.answer_context} tokens, timed between the answers. Expected: tau "
        "T(1) / (T(K+1) + K T draft). Measured: tokens a second by plain decoding's. Draft, target, rest: of a step as it "
        "ran. Ratios are the medians of those of each slice of items."]
    if run.draft_label:
        table.remarks.append(f"The draft runs with {run.draft_label}.")
    return table
