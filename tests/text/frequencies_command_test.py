# SPDX-License-Identifier: Apache-2.0
"""`redline frequencies` counts what `redline tokenize` finds, and says what it cannot read."""
import collections
import json
import subprocess

import pytest

import reference

needs_model = pytest.mark.skipif(not reference.SMOLLM2.exists(), reason="SmolLM2 is not fetched")
END = 2  # SmolLM2's <|im_end|>


def redline(*arguments, given=b""):
    return subprocess.run([reference.PROGRAM, *map(str, arguments)], input=given, capture_output=True,
                          check=False)


def ids(text):
    done = redline("tokenize", reference.SMOLLM2, "--json", "--escaped", given=json.dumps(text).encode())
    return json.loads(done.stdout)


def counted(tmp_path, *texts_and_flags):
    out = tmp_path / "out.json"
    done = redline("frequencies", reference.SMOLLM2, *texts_and_flags, "-o", out)
    assert done.returncode == 0, done.stderr.decode()
    whole = json.loads(out.read_text())
    assert [c for _, c in whole["counts"]] == sorted((c for _, c in whole["counts"]), reverse=True)
    assert whole["tokens"] == sum(c for _, c in whole["counts"])
    return whole["texts"], dict(whole["counts"])


@needs_model
def test_every_text_of_plain_files_and_json_lines_is_counted(tmp_path):
    plain = "one two two\n\n    three\n" * 5000  # more than is encoded at once
    (tmp_path / "plain.txt").write_text(plain)
    lines = [{"id": "x1", "messages": [{"role": "user", "content": "Hello two"}]}, {"prompt": "three"}]
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    texts, counts = counted(tmp_path, tmp_path / "plain.txt", tmp_path / "lines.jsonl")
    expected = collections.Counter(ids(plain))
    for text in ("x1", "user", "Hello two", "three"):
        expected.update(ids(text))
    expected[END] += 5
    assert texts == 5 and counts == expected


@needs_model
def test_fields_choose_among_the_texts_of_json_lines(tmp_path):
    line = {"id": "x1", "turns": ["a b", {"content": "c"}], "content": "d"}
    (tmp_path / "lines.jsonl").write_text(json.dumps(line))
    _, counts = counted(tmp_path, tmp_path / "lines.jsonl", "--field", "content")
    assert counts == collections.Counter(ids("c") + ids("d") + [END, END])
    _, counts = counted(tmp_path, tmp_path / "lines.jsonl", "--field", "turns", "--field", "id")
    assert counts == collections.Counter(ids("a b") + ids("c") + ids("x1") + 3 * [END])


@needs_model
@pytest.mark.parametrize("name, text, flags, says", [
    ("absent.txt", None, [], "absent.txt: cannot be read"),
    ("bad.jsonl", '{"a": 1}\n{"a": \n', [], "bad.jsonl:2: not JSON"),
    ("bare.jsonl", '{"a": 1}\n', [], "bare.jsonl: no line has a text"),
    ("other.jsonl", '{"a": "x"}\n', ["--field", "b"], "no line has a text in a field b"),
])
def test_what_cannot_be_read_is_named(tmp_path, name, text, flags, says):
    if text is not None:
        (tmp_path / name).write_text(text)
    done = redline("frequencies", reference.SMOLLM2, tmp_path / name, *flags, "-o", tmp_path / "out.json")
    assert done.returncode == 2 and says in done.stderr.decode()
    assert not (tmp_path / "out.json").exists()
