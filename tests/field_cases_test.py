# SPDX-License-Identifier: Apache-2.0
"""Every test that docs/field_cases.md names exists, in the file it names."""
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "field_cases.md"
ROW = re.compile(r"\| (?P<rule>.+) \| (?P<source>.+) \| `(?P<file>\S+)` \| (?P<test>.+) \|")


def rows(text):
    return [row.groupdict() for row in map(ROW.fullmatch, text.splitlines()) if row]


def names_in(file):
    """Of the tests in a file; C++ names may be broken over lines."""
    text = file.read_text()
    if file.suffix == ".py":
        return set(re.findall(r"^def (test_\w+)", text, re.M))
    quoted = re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', text)
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', name)) for name in quoted}


@pytest.mark.parametrize("row", rows(PAGE.read_text()), ids=lambda row: row["test"])
def test_a_rule_of_the_page_has_its_test(row):
    assert row["test"] in names_in(TESTS / row["file"])


def test_the_page_is_read_whole():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "`" in line]
    assert len(lines) == len(rows(PAGE.read_text())) > 40


def test_a_name_that_is_no_test_is_found():
    row = rows("| a rule | V#1 | `engine/stops_test.cpp` | no such test |")[0]
    assert row["test"] not in names_in(TESTS / row["file"])
