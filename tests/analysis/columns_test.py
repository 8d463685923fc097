# SPDX-License-Identifier: Apache-2.0
"""h5py finds in a trace what a program says it wrote: every table, every column, every level."""
import json
import subprocess
from collections import defaultdict

import h5py
import numpy as np
import pytest

import redline_trace

REQUESTS = 60
LEVELS = ["counts", "chosen", "topk", "full"]
BELOW_STEPS = {"nodes", "decisions", "logits/target", "logits/draft"}
PLACED = {"node_start", "decision_start", "logit_start", "answer_start", "step_row"}  # known only from the file


@pytest.fixture(scope="module", params=LEVELS)
def written(request, build, tmp_path_factory):
    """The level, the file, and per table the list of its records as they went in."""
    path = tmp_path_factory.mktemp(request.param) / "trace-000.h5"
    done = subprocess.run([build / "bin" / "test_make_trace", path, request.param, str(REQUESTS)],
                          capture_output=True, text=True, check=True)
    records = defaultdict(list)
    for line in done.stdout.splitlines():
        record = json.loads(line)
        records[record.pop("table")].append(record)
    return request.param, path, records


def expected(records, name, column):
    """A missing float is NaN; an id below zero is the largest of its type."""
    values = [record[name] for record in records]
    if column.ndim == 2:
        missing = np.nan if column.dtype.kind == "f" else np.iinfo(column.dtype).max
        width = column.shape[1]
        return np.array([value + [missing] * (width - len(value)) for value in values], column.dtype)
    if column.dtype.kind == "u":
        return np.array(values).astype(column.dtype)
    return np.array([np.nan if value is None else value for value in values], column.dtype)


def test_every_column_of_every_table_holds_what_was_written(written):
    level, path, records = written
    compared = 0
    with h5py.File(path) as trace:
        for table, rows in records.items():
            for name, column in trace[table].items():
                if not isinstance(column, h5py.Dataset) or name in PLACED:
                    continue
                np.testing.assert_array_equal(column[:], expected(rows, name, column), f"{table}/{name}")
                compared += 1
    assert compared == {"counts": 68, "chosen": 105, "topk": 109, "full": 109}[level]


def test_a_level_stores_its_tables_and_no_others(written):
    level, path, records = written
    with h5py.File(path) as trace:
        present = {name for name in BELOW_STEPS | {"logits/target_full"} if name in trace}
        assert ("topk_ids" in trace.get("logits/target", ())) == (level in ("topk", "full"))
    assert present == (set() if level == "counts" else BELOW_STEPS) | (
        {"logits/target_full"} if level == "full" else set())


def test_starts_and_owners_join_the_tables(written):
    level, path, records = written
    steps = redline_trace.table(path, "steps")
    if level == "counts":
        assert (steps[["node_start", "decision_start", "logit_start"]] == 2**64 - 1).all().all()
        return
    nodes = redline_trace.table(path, "nodes")
    assert list(steps.node_start) == list(np.cumsum(steps.n_nodes.astype(int)) - steps.n_nodes)
    for table in ("decisions", "logits/draft"):
        owners = redline_trace.table(path, table).step_row
        assert list(owners) == list(np.repeat(np.arange(len(steps)), steps.n_nodes))
    target = redline_trace.table(path, "logits/target")
    assert list(target.step_row) == list(np.repeat(np.arange(len(steps)), steps.n_nodes + 1))
    assert list(steps.logit_start) == list(target.reset_index().groupby("step_row")["index"].first())
    assert len(nodes) == steps.n_nodes.sum()


def test_full_rows_are_the_logits_in_half_precision(written):
    level, path, records = written
    if level != "full":
        return
    with h5py.File(path) as trace:
        for table in ("logits/target", "logits/draft"):
            full = trace[table + "_full"]
            assert full["values"].dtype == np.float16
            assert list(full["row"]) == list(range(len(records[table])))
            np.testing.assert_array_equal(
                full["values"][:], np.array([row["full"] for row in records[table]], np.float16))


def test_tokens_are_lists_of_ids(written):
    level, path, records = written
    for which in ("prompt", "output"):
        lists = [list(ids) for ids in redline_trace.tokens(path, which)]
        assert lists == [record[f"{which}_tokens"] for record in records["requests"]]


def test_every_column_describes_itself(written):
    level, path, records = written
    with h5py.File(path) as trace:
        assert trace.attrs["format_version"].tolist() == [1, 2]
        for table in records:
            group = trace[table]
            columns = [name for name in group if isinstance(group[name], h5py.Dataset)]
            assert group.attrs["encoding-type"] == "table"
            assert sorted(group.attrs["column-order"]) == sorted(columns)
            for name in columns:
                about = group[name].attrs
                assert about["description"] and about["encoding-version"] == "1.2"
                if name.endswith("_ns") or name.startswith("t_"):
                    assert about["units"] == "ns"


def test_texts_and_attributes_of_the_header(written):
    level, path, records = written
    about = redline_trace.attributes(path)
    assert (about["state"], about["level"], about["cell"]) == ("complete", level, "synthetic")
    assert redline_trace.attributes(path, "models/target")["name"] == "made-up"
    clock = redline_trace.attributes(path, "meta/clock")
    assert abs(clock["unix_ns"] / 1e9 - path.stat().st_mtime) < 3600
    with h5py.File(path) as trace:
        assert trace["meta/config_yaml"][()] == b"redline: 1\n"
        assert [name.decode() for name in trace["dataset/categories"]] == ["even", "ödd"]


def test_codes_have_names(written):
    level, path, records = written
    assert set(redline_trace.labelled(path, "steps").kind) == {"plain", "speculative"}
    assert set(redline_trace.labelled(path, "events").code) == {"retried"}


def test_a_folder_is_read_like_a_file_and_tells_its_files_apart(written, tmp_path):
    level, path, records = written
    for number in (0, 1):
        (tmp_path / f"trace-00{number}.h5").write_bytes(path.read_bytes())
    both, one = redline_trace.table(tmp_path, "steps"), redline_trace.table(path, "steps")
    assert len(both) == 2 * len(one) and list(both.file.unique()) == [0, 1]
    assert both[both.file == 1].emitted.tolist() == one.emitted.tolist()


def test_a_table_that_is_not_stored_is_an_error_that_names_it(written):
    level, path, records = written
    with pytest.raises(KeyError, match="no table nonsense"):
        redline_trace.table(path, "nonsense")
