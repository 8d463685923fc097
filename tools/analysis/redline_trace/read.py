# SPDX-License-Identifier: Apache-2.0
"""Traces as pandas frames. A path is one .h5 file, a cell folder, or a run folder of cells."""
import ctypes
from pathlib import Path

import h5py
import numpy as np
import pandas as pd

# HDF5 reads metadata whose checksum fails again, and sleeps between, from 1 ns on twice as long each time:
# its own 100 attempts on a damaged file do not end. These take half a second.
READ_ATTEMPTS = 28


def open_trace(path):
    """A finished file, or one that is still being written or whose writer was killed (SWMR)."""
    try:
        return h5py.File(path, "r")
    except OSError:
        access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
        access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
        limit_attempts(access)
        return h5py.File(h5py.h5f.open(str(path).encode(), h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ, access))


def limit_attempts(access):
    """h5py does not bind this call; its modules are linked with the library that has it."""
    hdf5 = ctypes.CDLL(h5py.h5f.__file__)
    hdf5.H5Pset_metadata_read_attempts(ctypes.c_int64(access.id), ctypes.c_uint(READ_ATTEMPTS))


def names(group):
    """The columns the writer declared; all, in a table that declares none."""
    return list(group.attrs.get("column-order", ())) or [n for n in group if isinstance(group[n], h5py.Dataset)]


def rows(group):
    """What all columns have: a kill may fall between two of them."""
    return min((len(group[name]) for name in names(group)), default=0)


def columns(group):
    count = rows(group)
    data = {name: group[name][:count] for name in names(group)}
    return {name: item if item.ndim == 1 else list(item) for name, item in data.items()}


def table(path, name):
    """Table `name` ("steps", "logits/target", ...) of all files of `path`; column `file` tells which."""
    frames = []
    for number, each in enumerate(files(path)):
        with open_trace(each) as trace:
            if name in trace:
                frames.append(pd.DataFrame(columns(trace[name])).assign(file=number))
    if not frames:
        raise KeyError(f"no table {name} in {path} (levels below store fewer tables)")
    return pd.concat(frames, ignore_index=True)


def files(path):
    """The trace files below `path`, attempts in order; cells of a run folder in order of name."""
    path = Path(path)
    if path.is_file():
        return [path]
    found = sorted(path.glob("trace-*.h5")) or sorted(path.glob("cells/*/trace-*.h5"))
    if not found:
        raise FileNotFoundError(f"no trace-*.h5 in {path} or in its cells")
    return found


def tokens(path, which="output"):
    """Token ids of every request, one array a row of table "requests"; which: prompt or output."""
    lists = []
    for each in files(path):
        with open_trace(each) as trace:
            count = rows(trace["requests"])  # first: a writer may be adding more
            group = trace[f"requests/{which}_tokens"]
            ends, data = group["indptr"][:], group["data"][:]
            lists += [data[ends[i]:ends[i + 1]] for i in range(count)]
    return lists


def labelled(path, name):
    """table() with every code column (kind, state, ...) as its names."""
    frame = table(path, name)
    with open_trace(files(path)[0]) as trace:
        for column, item in trace[name].items():
            if "labels" in item.attrs:
                frame[column] = pd.Categorical.from_codes(frame[column], [str(x) for x in item.attrs["labels"]])
    return frame


def attributes(path, group="/"):
    """Attributes of a group of the first file, as plain values: state, level, model names, ..."""
    def plain(value):
        if isinstance(value, bytes):
            return value.rstrip(b"\0").decode()
        return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value

    with open_trace(files(path)[0]) as trace:
        return {name: plain(value) for name, value in trace[group].attrs.items()}
