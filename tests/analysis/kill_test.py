# SPDX-License-Identifier: Apache-2.0
"""A program that is killed while it writes leaves every request it had reported finished."""
import random
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

import redline_trace

KILLS = 20


# The formulas of tests/trace/synthetic.hpp.
def steps(request):
    return 1 + request % 7


def nodes(request, step):
    return (request + step) % 5


def accepted(request, step):
    return (request + 2 * step) % (nodes(request, step) + 1) if nodes(request, step) else 0


def token(request, step, at):
    return request * 1000 + step * 10 + at


def output(request):
    return [token(request, s, at) for s in range(steps(request))
            for at in [*range(1, accepted(request, s) + 1), 9]]


def start(build, path, level):
    return subprocess.Popen([build / "bin" / "test_endless_trace", path, level], stdout=subprocess.PIPE)


def killed_at(build, path, level, seconds):
    """Starts, kills after so long from the first finished request, gives what was reported finished."""
    writer = start(build, path, level)
    lines = [writer.stdout.readline()]
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    lines += writer.stdout.read().split(b"\n")
    writer.wait()
    return [int(line) for line in lines if line.strip()]


def assert_whole(path, finished):
    keys = redline_trace.table(path, "requests").request_key
    assert len(keys) >= len(finished)
    assert keys[:len(finished)].tolist() == [1_000_000_007 * (r + 1) for r in finished]
    lists = redline_trace.tokens(path)
    all_steps, all_nodes = redline_trace.table(path, "steps"), redline_trace.table(path, "nodes")
    logits = redline_trace.table(path, "logits/target")
    rows_by_key = all_steps.groupby("request_key").groups
    owners = logits.step_row.to_numpy()
    for number, request in enumerate(finished):
        assert lists[number].tolist() == output(request)
        rows = all_steps.loc[rows_by_key[keys[number]]]
        assert rows.seq_step.tolist() == list(range(steps(request)))
        assert rows.accepted_by_rule.tolist() == [accepted(request, s) for s in range(steps(request))]
        for row, step in zip(rows.index, rows.itertuples()):
            s = step.seq_step
            below = all_nodes.token[int(step.node_start):int(step.node_start) + step.n_nodes]
            assert below.tolist() == [token(request, s, n) for n in range(1, nodes(request, s) + 1)]
            first, last = np.searchsorted(owners, [row, row + 1])
            assert last - first == nodes(request, s) + 1


@pytest.mark.parametrize("level", ["topk", "full", "old"])
def test_what_was_reported_finished_survives_a_kill(build, program, tmp_path, level):
    chance = random.Random(level)
    some = torn = 0
    for number in range(KILLS if level == "topk" else 5):
        path = tmp_path / f"trace-{number:03}.h5"
        finished = killed_at(build, path, level, chance.uniform(0, 0.25))
        if level == "old" and subprocess.run([program, "trace", "check", path], capture_output=True).returncode:
            torn += 1  # killed within a flush, which the old format does not survive: docs/traces.md
            path.unlink()
            continue
        assert_whole(path, finished)
        assert redline_trace.attributes(path)["state"] == "open"
        some += len(finished)
    assert some > 20 and torn <= 2
    checked = subprocess.run([program, "trace", "check", tmp_path], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert checked.stdout.count("every rule holds") == number + 1 - torn


def test_a_running_trace_can_be_read(build, tmp_path):
    path = tmp_path / "trace-000.h5"
    writer = start(build, path, "topk")
    try:
        for _ in range(30):
            finished = int(writer.stdout.readline())
        assert_whole(path, list(range(finished + 1)))
    finally:
        writer.kill()
        writer.communicate()


def test_a_kill_before_the_first_row_leaves_a_file_that_opens_or_none(build, tmp_path):
    for number in range(10):
        path = tmp_path / f"trace-{number:03}.h5"
        writer = start(build, path, "topk")
        time.sleep(number / 1000)
        writer.kill()
        writer.communicate()
        if path.exists():
            with redline_trace.open_trace(path) as trace:
                assert isinstance(trace["steps/kind"], h5py.Dataset)


PAGE = 4096


def header_bytes(path, dataset):
    """Where the first chunk of a data set's object header lies (HDF5 file format, section IV.A.1.b)."""
    start = h5py.h5o.get_info(dataset.id).addr
    with open(path, "rb") as file:
        file.seek(start)
        head = file.read(48)
    assert head[:4] == b"OHDR"
    flags = head[5]
    at = 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
    width = 1 << (flags & 3)
    return start, start + at + width + int.from_bytes(head[at:at + width], "little") + 4


def killed(build, tmp_path):
    path = tmp_path / "trace-000.h5"
    killed_at(build, path, "topk", 0.05)
    return path


def datasets(path):
    found = {}
    with redline_trace.open_trace(path) as trace:
        trace.visititems(lambda name, item: found.update({name: header_bytes(path, item)})
                         if isinstance(item, h5py.Dataset) else None)
    return found


def test_no_header_crosses_a_page_so_none_is_torn(build, tmp_path):
    # The kernel cuts a write of a killed process short between pages, never within one.
    headers = datasets(killed(build, tmp_path))
    assert len(headers) > 50
    assert [name for name, (start, end) in headers.items() if start // PAGE != (end - 1) // PAGE] == []


def test_a_damaged_trace_is_an_error_and_no_wait(build, program, tmp_path):
    path = killed(build, tmp_path)
    start, end = datasets(path)["steps/kind"]
    with open(path, "r+b") as file:
        file.seek(end - 1)
        last = file.read(1)
        file.seek(end - 1)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(KeyError, match="checksum"):
        redline_trace.table(path, "steps")
    checked = subprocess.run([program, "trace", "check", path], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 2
    assert "damaged at /steps/kind: incorrect metadata checksum" in checked.stderr
