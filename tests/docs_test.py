# SPDX-License-Identifier: Apache-2.0
"""The documents do what they say: every ```sh block runs, in order, in one folder a document; links
lead somewhere; commands exist. A block stays unrun only under a line <!-- not run: reason -->."""
import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1]
DOCUMENTS = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
NOT_RUN = re.compile(r"<!-- not run: \S.* -->")
TIME_LIMIT_S = 600


def blocks(text):
    """(line number, language, lines, line above) of each fenced block."""
    found, opened, above = [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        if opened is None and (fence := re.match(r"\s*```(\w*)", line)):
            opened = (number, fence[1], [], above)
        elif opened is not None and line.strip() == "```":
            found.append(opened)
            opened = None
        elif opened is not None:
            opened[2].append(line)
        above = line if line.strip() else above
    return found


def commands(text):
    return [(number, lines, above) for number, language, lines, above in blocks(text) if language == "sh"]


def without_fences(text):
    return re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.M | re.S)


def script(document, text):
    """One bash script of all blocks that run: a later block sees the variables of an earlier one."""
    parts = ["set -euo pipefail"]
    for number, lines, above in commands(text):
        if not NOT_RUN.fullmatch(above.strip()):
            parts += [f"echo '--- {document.name}:{number}'", *lines]
    return "\n".join(parts) + "\n"


def environment(source, build, program):
    return os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "REDLINE_SOURCE": str(source),
                         "REDLINE_BUILD": str(build), "PYTHONPATH": str(source / "tools" / "analysis")}


def run(document, folder, env):
    return subprocess.run(["bash", "-c", script(document, document.read_text())], cwd=folder, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=TIME_LIMIT_S)


@pytest.fixture
def folder(tmp_path, source):
    """A folder where the paths of a checkout hold, and what a document writes is thrown away."""
    for name in ("datasets", "docs", "experiments", "plugins", "tools"):
        (tmp_path / name).symlink_to(source / name)
    return tmp_path


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_commands_of_the_documents_run(document, folder, source, build, program):
    done = run(document, folder, environment(source, build, program))
    assert done.returncode == 0, f"{document.name}: exit {done.returncode} in the last block of\n{done.stdout}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_links_of_the_documents_lead_somewhere(document):
    targets = re.findall(r"\]\(([^)\s]+)\)", without_fences(document.read_text()))
    relative = [t.partition("#")[0] for t in targets if not re.match(r"[a-z]+:|#", t)]
    assert not [t for t in relative if not (document.parent / t).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_commands_named_in_the_documents_exist(document, program):
    known = set(re.findall(r"^  ([a-z]+) ", subprocess.run(
        [program, "--help"], capture_output=True, text=True, check=True).stdout, flags=re.M))
    for number, lines, _ in commands(document.read_text()):
        named = set(re.findall(r"(?:^|[\s/])redline +([a-z]+)\b", "\n".join(lines), flags=re.M))
        assert named <= known, f"{document.name}:{number} names unknown commands: {named - known}"


def test_a_block_that_fails_is_shown_with_its_place(tmp_path):
    document = tmp_path / "PLANTED.md"
    document.write_text("text\n```sh\nx=1\n```\n\n<!-- not run: takes hours -->\n```sh\nexit 9\n```\n"
                        "```text\nexit 8\n```\n\n```sh\ntest $x = 1\necho seen\nls missing\n```\n")
    done = run(document, tmp_path, os.environ)
    assert done.returncode == 2
    assert done.stdout.splitlines()[:3] == ["--- PLANTED.md:2", "--- PLANTED.md:14", "seen"]
    assert "missing" in done.stdout
