# SPDX-License-Identifier: Apache-2.0
"""Every figure of a cell's summary.json, worked out anew from the trace alone. It shares no code with the
program, so the two check each other. Names and formulas: docs/experiments.md."""
import numpy as np

from redline_trace.read import table

PREFILL, SHADOW = 0, 3     # steps.kind
DRAFT_FED = 14             # events.code; its value is a batch_id
ERROR, CANCELLED = 3, 4    # requests.finish_reason


def ratio(part, whole):
    return part / whole if whole > 0 else None


def mean(values):
    return float(np.mean(values)) if len(values) else None


def numbered(path):
    """Requests and steps with a column `run`: a key may run twice (a warm-up asks a question of the set)."""
    requests, steps = table(path, "requests"), table(path, "steps")
    requests["run"] = requests.groupby(["file", "request_key"]).cumcount()
    before = steps.groupby(["file", "request_key"])
    fresh = (steps.kind == PREFILL) | ((steps.seq_step <= before.seq_step.shift())
                                       & (before.kind.shift() != PREFILL))
    first = before.cumcount() == 0
    steps["run"] = (fresh & ~first).groupby([steps.file, steps.request_key]).cumsum()
    return requests, steps


def counted(path):
    """What statistics are of: requests neither warm-up nor failed, their steps; and how many failed."""
    requests, steps = numbered(path)
    # A request whose writer was killed before it was logged runs again: the last attempt counts.
    requests = requests.drop_duplicates(["request_key", "is_warmup"], keep="last")
    requests = requests[~requests.is_warmup.astype(bool)]
    failed = requests.finish_reason.isin([ERROR, CANCELLED])
    good = requests[~failed]
    steps = steps[steps.kind != SHADOW].merge(good[["file", "request_key", "run"]])
    return good, steps, int(failed.sum())


def busy_seconds(requests):
    """The time in which at least one request was under way; each file has a clock of its own."""
    busy = 0
    for _, of_file in requests.sort_values(["file", "t_start"]).groupby("file"):
        reached = 0
        for begin, end in zip(of_file.t_start.tolist(), of_file.t_end.tolist()):
            busy += max(0, end - max(begin, reached))
            reached = max(reached, end)
    return busy / 1e9


def recompute(path):
    """summary.json of one cell: vLLM's names, ours under "spec"."""
    requests, steps, failed = counted(path)
    batches = table(path, "batches")
    output = int(requests.n_output.sum())
    duration = busy_seconds(requests)
    summary = {
        "duration": duration, "completed": len(requests), "failed": failed,
        "total_input_tokens": int(requests.n_prompt.sum()), "total_output_tokens": output,
        "request_throughput": ratio(len(requests), duration),
        "output_throughput": ratio(output, duration),
        "total_token_throughput": ratio(output + int(requests.n_prompt.sum()), duration),
    }
    times = latencies(requests, steps, batches)
    for name in ("ttft_ms", "tpot_ms", "itl_ms", "e2el_ms"):
        summary |= statistics(name, times[name])
    verify = steps[steps.kind != PREFILL]
    spec = (counts(verify) | lengths(requests, steps, verify) | profiles(verify[verify.drafted > 0])
            | statistics("token_latency_ms", times["token_latency_ms"])
            | shares(requests, verify, batches, table(path, "events")))
    if spec["drafting_steps"]:
        summary |= {
            "spec_decode_acceptance_rate": 100 * spec["draft_acceptance_rate"],
            "spec_decode_acceptance_length": spec["mean_acceptance_length"],
            "spec_decode_num_drafts": spec["drafting_steps"],
            "spec_decode_draft_tokens": spec["drafted"],
            "spec_decode_accepted_tokens": spec["accepted_by_rule"],
            "spec_decode_per_position_acceptance_rates": spec["acceptance_at_pos"],
        }
    return summary | {"spec": spec}


def counts(verify):
    names = ("drafted", "accepted_by_rule", "committed", "emitted")
    sums = {name: int(verify[name].sum()) for name in names}
    return sums | {"steps": len(verify), "drafting_steps": int((verify.drafted > 0).sum()),
                   "wasted_after_stop": sums["committed"] - sums["emitted"]}


def lengths(requests, steps, verify):
    drafting = verify[verify.drafted > 0]
    s, a, d = len(drafting), int(drafting.accepted_by_rule.sum()), int(drafting.drafted.sum())
    n, output = int(verify.emitted.sum()), int(steps.emitted.sum())
    by_request = drafting.groupby(["file", "request_key", "run"]).accepted_by_rule.mean()
    per_step = ratio(a, s)
    return {
        "mean_acceptance_length": None if per_step is None else 1 + per_step,
        "mean_accepted_draft_tokens": per_step,
        "mat_micro": ratio(n, len(verify)),
        "al_macro": mean(1 + by_request),
        "block_efficiency": ratio(n, len(verify)),
        "eagle_tau": ratio(n, len(verify) - len(requests)),
        "sglang_accept_length": ratio(output, len(verify)),
        "specdec_bench_al": ratio(output, len(verify) + len(requests)),
        "draft_acceptance_rate": ratio(a, d),
        "sglang_log_accept_rate": ratio(a + s, d + s),
        "system_efficiency": ratio(n - (len(verify) - s), d + s),
        "accepted_per_verified": mean((drafting.accepted_by_rule + 1.0) / (drafting.drafted + 1.0)),
        "draft_coverage": ratio(s, len(verify)),
        "mean_draft_length": ratio(d, s),
    }


def profiles(drafting):
    longest = int(drafting.drafted.max()) if len(drafting) else 0
    reached = [int((drafting.accepted_by_rule >= i).sum()) for i in range(longest + 1)]
    histogram = np.bincount(drafting.accepted_by_rule, minlength=longest + 1) if len(drafting) else []
    by_length = {str(length): np.bincount(group.accepted_by_rule, minlength=length + 1).tolist()
                 for length, group in drafting.groupby("drafted")}
    return {
        "acceptance_at_pos": [ratio(reached[i + 1], reached[0]) for i in range(longest)],
        "conditional_acceptance": [ratio(reached[i + 1], reached[i]) for i in range(longest)],
        "acceptance_histogram": [int(count) for count in histogram],
        "acceptance_histogram_by_draft_length": by_length,
    }


def latencies(requests, steps, batches):
    """Milliseconds. A step ends with its iteration; the first token's time stands in the request."""
    run = ["file", "request_key", "run"]
    ends = steps.merge(batches[["file", "batch_id", "t_start", "tokens_ns"]], on=["file", "batch_id"])
    ends["end"] = ends.t_start + ends.tokens_ns
    ends = ends.merge(requests[run + ["t_first"]], on=run)
    is_first = ends.groupby(run).cumcount() == 0
    ends.loc[is_first, "end"] = ends.t_first[is_first]
    gap = (ends.end - ends.groupby(run).end.shift())[~is_first] / 1e6
    emitted = ends.emitted[~is_first].astype(int)
    many = requests[requests.n_output > 1]
    return {
        "ttft_ms": (requests.t_first - requests.t_start) / 1e6,
        "tpot_ms": (many.t_end - many.t_first) / (many.n_output.astype(float) - 1) / 1e6,
        "itl_ms": gap,
        "e2el_ms": (requests.t_end - requests.t_start) / 1e6,
        "token_latency_ms": np.repeat(gap / np.maximum(1, emitted), emitted),
    }


def statistics(name, values):
    values = np.asarray(values, float)
    out = {f"mean_{name}": mean(values), f"median_{name}": None, f"std_{name}": None}
    out |= {f"p{percent}_{name}": None for percent in (50, 95, 99)}
    if len(values):
        out |= {f"median_{name}": float(np.median(values)), f"std_{name}": float(np.std(values))}
        out |= {f"p{p}_{name}": float(np.percentile(values, p)) for p in (50, 95, 99)}
    return out


def shares(requests, verify, batches, events):
    """Of the time between first and last token. An iteration counts once, however many shared it."""
    decode = float((requests.t_end - requests.t_first).sum())
    own = verify[["file", "batch_id"]].drop_duplicates()
    sums = {part: float(batches.merge(own)[f"{part}_ns"].sum())
            for part in ("draft", "target", "verify", "sample", "kv")}
    sums["draft"] += float(batches.merge(fed_alone(requests, own, events)).draft_ns.sum())
    return {f"{part}_share": ratio(ns, decode) for part, ns in sums.items()} | {"decode_seconds": decode / 1e9}


def fed_alone(requests, own, events):
    """Iterations that fed a draft and verified nothing."""
    fed = events[events.code == DRAFT_FED].merge(requests[["file", "request_key", "t_first", "t_end"]])
    fed = fed[(fed.t_ns >= fed.t_first) & (fed.t_ns <= fed.t_end)]   # not those of its warm-up
    fed = fed.assign(batch_id=fed.value.astype(own.batch_id.dtype))[["file", "batch_id"]].drop_duplicates()
    both = fed.merge(own, how="left", indicator=True)
    return both[both._merge == "left_only"][["file", "batch_id"]]
