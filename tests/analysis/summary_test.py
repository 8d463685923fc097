# SPDX-License-Identifier: Apache-2.0
"""The figures worked out from a trace, on numbers known by hand."""
import h5py
import numpy as np
import pytest

import redline_trace

PREFILL, PLAIN, SPECULATIVE = 0, 1, 2
FED = -1                    # no step: an iteration in which the draft alone was fed
STOP, LENGTH, ERROR = 0, 1, 3
QUEUE_FULL, DRAFT_FED = 10, 14


def write(path, requests):
    """requests: (key, is_warmup, finish, [(kind, drafted, accepted, emitted)]); a step takes 10 ms."""
    columns = {"requests": [], "steps": [], "batches": [],
               "events": [dict(t_ns=0, code=QUEUE_FULL, request_key=0, value=1.0)]}
    now = 0
    for key, is_warmup, finish, steps in requests:
        start = now
        for number, (kind, drafted, accepted, emitted) in enumerate(steps):
            batch = len(columns["batches"])
            now += 10_000_000
            if kind == FED:
                columns["events"].append(dict(t_ns=now, code=DRAFT_FED, request_key=key, value=float(batch)))
            else:
                columns["steps"].append(dict(
                    request_key=key, batch_id=batch, seq_step=max(0, number - 1), kind=kind, drafted=drafted,
                    accepted_by_rule=accepted, committed=accepted + 1, emitted=emitted))
            columns["batches"].append(dict(
                batch_id=batch, t_start=now - 10_000_000, tokens_ns=10_000_000, total_ns=10_000_000, draft_ns=2_000_000,
                target_ns=7_000_000, verify_ns=500_000, sample_ns=300_000, kv_ns=100_000))
        columns["requests"].append(dict(
            request_key=key, is_warmup=is_warmup, finish_reason=finish, n_prompt=5,
            n_output=sum(step[3] for step in steps), t_start=start, t_first=start + 10_000_000, t_end=now))
    with h5py.File(path, "w") as trace:
        for table, rows in columns.items():
            for name in rows[0]:
                trace[f"{table}/{name}"] = np.array([row[name] for row in rows])
    return path


def first():
    return (PREFILL, 0, 0, 1)


def test_one_run_has_many_numbers(tmp_path):
    """100 tokens: one from prefill, then 33 steps of 3 drafts, 2 accepted (docs/experiments.md)."""
    run = [first()] + [(SPECULATIVE, 3, 2, 3)] * 33
    summary = redline_trace.recompute(write(tmp_path / "a.h5", [(1, False, LENGTH, run)]))
    spec = summary["spec"]
    assert summary["total_output_tokens"] == 100
    assert spec["mean_acceptance_length"] == spec["mat_micro"] == spec["al_macro"] == 3
    assert spec["mean_accepted_draft_tokens"] == 2
    assert spec["sglang_accept_length"] == pytest.approx(100 / 33)
    assert spec["specdec_bench_al"] == pytest.approx(100 / 34)
    assert spec["eagle_tau"] == pytest.approx(99 / 32)
    assert spec["draft_acceptance_rate"] == pytest.approx(2 / 3)
    assert spec["sglang_log_accept_rate"] == spec["system_efficiency"] == spec["accepted_per_verified"] == 0.75
    assert spec["acceptance_at_pos"] == spec["conditional_acceptance"] == [1, 1, 0]
    assert spec["acceptance_histogram"] == [0, 0, 33, 0]


def test_warmups_failures_and_steps_without_drafts_are_told_apart(tmp_path):
    summary = redline_trace.recompute(write(tmp_path / "a.h5", [
        (1, True, STOP, [first(), (SPECULATIVE, 4, 4, 5)]),
        (1, False, STOP, [first(), (SPECULATIVE, 4, 1, 2), (PLAIN, 0, 0, 1), (SPECULATIVE, 2, 2, 1)]),
        (2, False, ERROR, [first(), (SPECULATIVE, 4, 0, 1)]),
        (3, False, LENGTH, [first(), (SPECULATIVE, 2, 0, 1)]),
    ]))
    spec = summary["spec"]
    assert (summary["completed"], summary["failed"], summary["total_output_tokens"]) == (2, 1, 7)
    assert (spec["steps"], spec["drafting_steps"], spec["drafted"], spec["accepted_by_rule"]) == (4, 3, 8, 3)
    assert spec["wasted_after_stop"] == 2
    assert spec["draft_coverage"] == 0.75
    assert spec["mean_acceptance_length"] == 2
    assert spec["al_macro"] == (2.5 + 1) / 2
    assert spec["acceptance_at_pos"] == pytest.approx([2 / 3, 1 / 3, 0, 0])
    assert spec["conditional_acceptance"] == [pytest.approx(2 / 3), 0.5, 0, None]
    assert spec["acceptance_histogram_by_draft_length"] == {"2": [1, 0, 1], "4": [0, 1, 0, 0, 0]}


def test_latencies_and_shares(tmp_path):
    run = [first(), (SPECULATIVE, 3, 1, 2), (SPECULATIVE, 3, 0, 1)]
    summary = redline_trace.recompute(write(tmp_path / "a.h5", [(1, False, LENGTH, run)]))
    assert summary["mean_ttft_ms"] == 10
    assert summary["mean_e2el_ms"] == 30
    assert summary["mean_tpot_ms"] == pytest.approx(20 / 3)
    assert summary["mean_itl_ms"] == 10
    assert summary["spec"]["mean_token_latency_ms"] == pytest.approx((5 + 5 + 10) / 3)
    assert summary["spec"]["draft_share"] == pytest.approx(0.2)
    assert summary["spec"]["target_share"] == pytest.approx(0.7)
    assert summary["output_throughput"] == pytest.approx(4 / 0.03)


def test_feeding_a_draft_is_its_share_of_the_time_and_no_step(tmp_path):
    run = [first(), (FED, 0, 0, 0), (SPECULATIVE, 3, 1, 2), (SPECULATIVE, 3, 0, 1)]
    spec = redline_trace.recompute(write(tmp_path / "a.h5", [(1, True, STOP, run), (1, False, LENGTH, run)]))["spec"]
    assert spec["steps"] == 2
    assert spec["draft_share"] == pytest.approx(6 / 30)   # of three iterations, one of them its own
    assert spec["target_share"] == pytest.approx(14 / 30)


def test_a_plain_run_has_no_rates(tmp_path):
    summary = redline_trace.recompute(write(tmp_path / "a.h5", [(1, False, STOP, [first(), (PLAIN, 0, 0, 1)])]))
    assert summary["spec"]["mean_acceptance_length"] is None
    assert summary["spec"]["acceptance_at_pos"] == []
    assert "spec_decode_num_drafts" not in summary


def test_a_request_that_ran_again_after_a_kill_counts_once(tmp_path):
    for attempt, accepted in ((0, 1), (1, 2)):
        write(tmp_path / f"trace-00{attempt}.h5",
              [(1, False, STOP, [first(), (SPECULATIVE, 3, accepted, accepted + 1)])])
    spec = redline_trace.recompute(tmp_path)["spec"]
    assert (spec["steps"], spec["accepted_by_rule"]) == (1, 2)
