# SPDX-License-Identifier: Apache-2.0
"""redline trace on sound, broken, foreign and hostile files."""
import json
import subprocess

import h5py
import numpy as np
import pandas as pd
import pytest

import redline_trace


@pytest.fixture(scope="module")
def sound(build, tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "trace-000.h5"
    subprocess.run([build / "bin" / "test_make_trace", path, "topk", "40"], check=True, capture_output=True)
    return path


@pytest.fixture
def copy(sound, tmp_path):
    path = tmp_path / "copy.h5"
    path.write_bytes(sound.read_bytes())
    return path


def trace(program, *arguments):
    return subprocess.run([program, "trace", *map(str, arguments)], capture_output=True, text=True)


def test_info_tells_tables_state_and_models(program, sound):
    [about] = json.loads(trace(program, "info", sound, "--json").stdout)
    assert (about["state"], about["level"], about["models"]["target"]["name"]) == ("complete", "topk", "made-up")
    assert about["tables"]["/steps"]["rows"] == len(redline_trace.table(sound, "steps"))
    text = trace(program, "info", sound).stdout
    assert "complete, level topk" in text and "/logits/target" in text


@pytest.mark.parametrize("column, row, value, rule", [
    ("steps/emitted", 0, 50, "emitted <= committed"),
    ("steps/emitted", 1, 0, "sum of emitted = n_output"),
    ("steps/accepted_by_rule", 2, 40, "accepted_by_rule <= drafted"),
    ("requests/n_output", 3, 1, "length of n_output"),
    ("nodes/parent", 0, 5, "parents precede children"),
    ("nodes/state", 0, 0, "accepted nodes = accepted_by_rule"),
    ("nodes/accept_prob", 1, 1.01, "accept_prob is in range"),
    ("decisions/step_row", 0, 2**40, "step_row names a row"),
])
def test_check_finds_what_was_broken(program, copy, column, row, value, rule):
    assert trace(program, "check", copy).returncode == 0
    with h5py.File(copy, "r+") as file:
        file[column][row] = value
    checked = trace(program, "check", copy)
    assert checked.returncode == 1
    assert "broken: " in checked.stdout and rule in checked.stdout


def test_export_is_the_table_as_csv(program, sound, tmp_path):
    for table in ("steps", "nodes"):
        csv = tmp_path / "out.csv"
        assert trace(program, "export", sound, "--table", table, "--csv", csv).returncode == 0
        expected = redline_trace.table(sound, table).drop(columns="file")
        pd.testing.assert_frame_equal(pd.read_csv(csv), expected, check_dtype=False)


def test_export_of_several_files_names_them(program, sound, copy, tmp_path):
    for name in ("trace-000.h5", "trace-001.h5"):
        (tmp_path / name).write_bytes(copy.read_bytes())
    frame = pd.read_csv(trace_csv(program, tmp_path))
    assert frame.file.str[-6:].unique().tolist() == ["000.h5", "001.h5"]


def trace_csv(program, folder):
    csv = folder / "out.csv"
    assert trace(program, "export", folder, "--table", "requests", "--csv", csv).returncode == 0
    return csv


def test_unknown_table_and_missing_file_are_the_users_errors(program, sound, tmp_path):
    assert "no table nonsense" in (bad := trace(program, "export", sound, "--table", "nonsense")).stderr
    assert bad.returncode == 2
    assert trace(program, "info", tmp_path / "nowhere.h5").returncode == 2
    assert "no trace-NNN.h5" in trace(program, "check", tmp_path).stderr


def test_a_file_that_lies_about_its_size_is_refused(program, copy):
    with h5py.File(copy, "r+") as file:
        file["steps/kind"].resize((2**45,))
    checked = trace(program, "check", copy)
    assert checked.returncode == 2 and "more than a file of" in checked.stderr


def test_links_and_external_data_are_not_followed(program, copy, tmp_path):
    (tmp_path / "secret").write_bytes(bytes(4096))
    with h5py.File(copy, "r+") as file:
        del file["steps/kind"]
        file["steps/kind"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/x")
    assert "not followed" in trace(program, "check", copy).stderr
    with h5py.File(copy, "r+") as file:
        del file["steps/kind"]
        rows = file["steps/emitted"].shape
        file["steps"].create_dataset("kind", rows, np.uint8, external=[(str(tmp_path / "secret"), 0, 4096)])
    assert "another file" in trace(program, "check", copy).stderr


def test_a_damaged_file_ends_in_words_never_in_a_crash(program, copy):
    whole = copy.read_bytes()
    chance = np.random.default_rng(1)
    for _ in range(40):
        damaged = bytearray(whole)
        for place in chance.integers(0, 60_000, 30):  # where the metadata is
            damaged[place] = chance.integers(0, 256)
        copy.write_bytes(damaged)
        done = trace(program, "check", copy)
        assert done.returncode in (0, 1, 2), done.stderr
        assert done.returncode == 0 or str(copy) in done.stdout + done.stderr
