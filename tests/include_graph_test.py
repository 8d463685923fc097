# SPDX-License-Identifier: Apache-2.0
"""The include graph against the dependency law of docs/design.md: a room includes only rooms of lower
lines, public headers only the standard library, and a third-party header has one room, a heavy one
one file."""
import re
from pathlib import Path

import pytest

LINES = [["redline", "kernels"], ["api", "log"], ["files", "device", "config", "trace", "plugin"],
         ["text", "kv", "parallel"], ["model"], ["step"], ["engine"], ["check", "experiment"], ["tools"]]
RANK = {room: rank for rank, rooms in enumerate(LINES) for room in rooms}
RANK["plugins"] = RANK["api"]  # public headers, and kernels for a plugin that brings an op

# How an included name begins: the rooms, or where it is heavy the one file, that may see it.
THIRD_PARTY = {
    "CLI/": ["tools/redline/main.cpp"],
    "Eigen/": ["kernels"],
    "H5": ["trace"],
    "benchmark/": ["kernels", "check"],
    "boost/dll": ["framework/plugin/library.cpp"],
    "boost/json": ["config", "files"],
    "curl/": ["files"],
    "hdf5": ["trace"],
    "immintrin": ["kernels"],
    "mpi.h": ["framework/parallel/mpi/mpi_link.hpp"],
    "openssl/": ["files", "plugin"],
    "pcre2": ["text"],
    "spdlog/": ["framework/log/log.cpp"],
    "utf8proc": ["text"],
    "yaml-cpp/": ["config"],
}
# C, POSIX, Linux and the compiler: what a machine has before any library is installed.
SYSTEM = r"(cxxabi|fcntl|unistd|dirent|dlfcn|elf|link|sched|signal|poll|pthread|cpuid|spawn)\.h|(sys|linux)/\w+\.h"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)', re.M)


def room_of(path):
    """framework/kv/lease.cpp is of kv, framework/include/redline/row.hpp of redline, plugins/x of plugins."""
    parts = path.split("/")
    return parts[2] if parts[:2] == ["framework", "include"] else parts[parts[0] == "framework"]


def neighbours(path, name):
    """Outside the framework a file is included from its own folder or from the top of its line."""
    return {f"{path.rpartition('/')[0]}/{name}", f"{path.partition('/')[0]}/{name}"}


def faults(path, text, tree):
    """What the file `path` with this text breaks, as sentences; `tree` is the set of all our paths."""
    room = room_of(path)
    for bracket, name in INCLUDE.findall(text):
        says = f"{path} includes {name}"
        if bracket == "<":
            owners = next((who for begin, who in THIRD_PARTY.items() if name.startswith(begin)), [])
            standard = re.fullmatch(r"\w+" if room == "redline" else rf"\w+|{SYSTEM}", name)
            if not standard and room not in owners and path not in owners:
                yield f"{says}, which is for {' and '.join(owners) or 'no room yet (THIRD_PARTY above)'}"
        elif f"framework/include/{name}" in tree:
            continue  # the lowest line: everyone's
        elif name.startswith("redline/kernels/"):
            if room == "redline":
                yield f"{says}: public headers know no kernels"
        elif not path.startswith("framework/") and neighbours(path, name) & tree:
            continue
        elif f"framework/{name}" not in tree:
            yield f"{says}, which is no file of ours"
        elif (other := name.split("/")[0]) != room and RANK[other] >= RANK[room]:
            yield f"{says}: {other} is not below {room}"


def all_faults(files):
    tree = set(files)
    return [fault for path, text in files.items() for fault in faults(path, text, tree)]


@pytest.fixture
def files(source):
    paths = [p for top in ("framework", "kernels", "plugins", "tools") for end in ("cpp", "hpp", "h")
             for p in (source / top).rglob(f"*.{end}")]
    return {str(p.relative_to(source)): p.read_text() for p in paths}


def test_every_include_keeps_the_dependency_law(files):
    assert len(files) > 30
    found = all_faults(files)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path, line, fault", [
    ("framework/kv/x.cpp", '#include "engine/engine.hpp"', "engine is not below kv"),
    ("framework/kv/x.cpp", '#include "text/tokenizer.hpp"', "text is not below kv"),
    ("framework/api/x.cpp", '#include "log/log.hpp"', "log is not below api"),
    ("framework/include/redline/x.hpp", "#include <boost/json.hpp>", "for config and files"),
    ("framework/include/redline/x.hpp", "#include <unistd.h>", "no room"),
    ("framework/include/redline/x.hpp", '#include "kv/lease.hpp"', "kv is not below redline"),
    ("framework/include/redline/x.hpp", '#include "redline/kernels/ops.hpp"', "know no kernels"),
    ("framework/engine/x.cpp", "#include <hdf5.h>", "for trace"),
    ("framework/plugin/x.cpp", "#include <boost/dll/shared_library.hpp>", "for framework/plugin/library.cpp"),
    ("framework/log/x.cpp", "  #  include <spdlog/spdlog.h>", "for framework/log/log.cpp"),
    ("framework/kv/x.cpp", "#include <nlohmann/json.hpp>", "no room yet"),
    ("framework/kv/x.cpp", '#include "kv/page_pol.hpp"', "no file of ours"),
    ("kernels/x.cpp", '#include "kv/page_pool.hpp"', "kv is not below kernels"),
    ("plugins/x/x.cpp", '#include "log/log.hpp"', "log is not below plugins"),
    ("plugins/x/x.cpp", '#include "api/x.hpp"', "no file of ours"),
])
def test_a_planted_violation_is_found(files, path, line, fault):
    before = all_faults(files)
    found = [f for f in all_faults(files | {path: line}) if f not in before]
    assert len(found) == 1 and fault in found[0]


def test_lawful_includes_pass(files):
    lawful = {"framework/engine/x.cpp": '#include <vector>\n#include <sys/mman.h>\n#include "log/log.hpp"\n'
                                        '#include "kv/lease.hpp"\n#include "engine/engine.hpp"',
              "plugins/x/x.cpp": '#include "redline/drafter.hpp"\n#include "redline/kernels/ops.hpp"'}
    assert all_faults(files | lawful) == all_faults(files)
