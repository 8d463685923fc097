# SPDX-License-Identifier: Apache-2.0
"""The documents do what they say. In order, in one folder a document: a ```sh block is run, and a block
with a path after its language (```cpp my/rule.cpp) is written there. Links lead somewhere; commands
exist. A block stays unrun only under a line <!-- not run: reason -->."""
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parents[1]
DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
TIME_LIMIT_S = 600


class Block(NamedTuple):
    line: int
    language: str
    path: str   # where its text is to be written; mostly empty
    above: str  # the nearest line before it that is not blank
    text: str


def blocks(document):
    found, opened, above = [], None, ""
    for number, line in enumerate(document.read_text().splitlines(), 1):
        if opened is None and (fence := re.fullmatch(r"```(\w*) *(\S*)", line.strip())):
            opened, lines = (number, fence[1], fence[2], above), []
        elif opened is not None and line.strip() == "```":
            found.append(Block(*opened, "\n".join(lines)))
            opened = None
        elif opened is not None:
            lines.append(line)
        above = line.strip() or above
    assert opened is None, f"{document.name}:{opened[0]}: a block without an end"
    return found


def script(document):
    """One bash script of all that runs: a later block sees the variables of an earlier one."""
    parts = ["set -euo pipefail"]
    for block in blocks(document):
        if NOT_RUN.fullmatch(block.above):
            continue
        if block.path:
            parts.append(f"mkdir -p $(dirname {block.path}); cat >{block.path} <<'END OF BLOCK'\n"
                         f"{block.text}\nEND OF BLOCK")
        elif block.language == "sh":
            parts += [f"echo '--- {document.name}:{block.line}'", block.text]
    return "\n".join(parts) + "\n"


def run(document, folder, variables):
    return subprocess.run(["bash", "-c", script(document)], cwd=folder, env=os.environ | variables,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=TIME_LIMIT_S)


@pytest.fixture
def checkout(tmp_path, source, build):
    """A folder where the paths of a built checkout hold, and what a document writes is thrown away."""
    for name in ("datasets", "docs", "experiments", "tools"):
        (tmp_path / name).symlink_to(source / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "release").symlink_to(build)
    return tmp_path


@each_document
def test_what_a_document_shows_runs(document, checkout, source, build, program):
    done = run(document, checkout, {
        "PATH": f"{program.parent}:{os.environ['PATH']}", "REDLINE_SOURCE": str(source),
        "REDLINE_BUILD": str(build), "PYTHONPATH": str(source / "tools" / "analysis")})
    assert done.returncode == 0, f"exit {done.returncode} in the last block of\n{done.stdout}"


@each_document
def test_links_of_a_document_lead_somewhere(document):
    prose = re.sub(r"^\s*```.*?^\s*```", "", document.read_text(), flags=re.M | re.S)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    files = [t.partition("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]
    assert [f for f in files if not (document.parent / f).exists()] == []


@each_document
def test_commands_a_document_names_exist(document, program):
    usage = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"^  ([a-z]+) ", usage, flags=re.M))
    for block in blocks(document):
        if block.language == "sh":
            named = set(re.findall(r"(?:^|[ /(])redline +([a-z]+)\b", block.text, flags=re.M))
            assert named <= known, f"line {block.line}: no such command: {named - known}"


def test_a_block_that_fails_is_shown_with_its_place(tmp_path):
    document = tmp_path / "PLANTED.md"
    document.write_text("text\n```sh\nx=$(mktemp -u)\n```\n\n<!-- not run: takes hours -->\n```sh\nexit 9\n```\n"
                        "```text\nexit 8\n```\n```text a/b.txt\nseen $x\n```\n"
                        "```sh\ntest $x\ncat a/b.txt\nls missing\n```\n")
    done = run(document, tmp_path, {})
    assert done.returncode == 2
    assert done.stdout.splitlines()[:3] == ["--- PLANTED.md:2", "--- PLANTED.md:16", "seen $x"]
    assert "missing" in done.stdout
