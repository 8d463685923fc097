# SPDX-License-Identifier: Apache-2.0
"""`redline tokenize` gives the ids of the `tokenizers` package, for each family of splits."""
import functools
import json
import random
import subprocess

import pytest

import corpus
import reference

needs_smollm2 = pytest.mark.skipif(not reference.SMOLLM2.exists(), reason="SmolLM2 is not fetched")
needs_qwen = pytest.mark.real_pair
read_keys = functools.cache(reference.read_keys)


def differences(model, keys, pre, specials=False):
    texts = corpus.texts()
    theirs = reference.build(keys, pre, specials)
    flags = ["--special"] if specials else []
    ours = reference.run("tokenize", model, "--json", "--escaped", *flags, lines=texts)
    assert len(ours) == len(texts)
    return [(text, got, expected) for text, got, batch in
            zip(texts, ours, theirs.encode_batch(texts, add_special_tokens=False))
            if got != (expected := batch.ids)]


@needs_smollm2
@pytest.mark.parametrize("specials", [False, True])
def test_smollm2_has_equal_ids(specials):
    keys = read_keys(reference.SMOLLM2)
    assert differences(reference.SMOLLM2, keys, "smollm", specials)[:3] == []


@needs_qwen
@pytest.mark.parametrize("specials", [False, True])
def test_qwen_has_equal_ids(specials):
    assert differences(reference.QWEN, read_keys(reference.QWEN), "qwen2", specials)[:3] == []


@needs_smollm2
@pytest.mark.parametrize("pre", ["gpt-2", "llama-bpe", "qwen2", "smollm"])
def test_every_family_has_equal_ids(pre, tmp_path):
    keys = read_keys(reference.SMOLLM2)
    reference.write_vocabulary(tmp_path / "vocabulary.gguf", keys, pre)
    assert differences(tmp_path / "vocabulary.gguf", keys, pre)[:3] == []


@needs_smollm2
def test_merges_are_ignored_for_whole_words(tmp_path):
    """A word that is a token though no merge leads to it: llama-bpe takes it, gpt-2 does not."""
    keys = dict(read_keys(reference.SMOLLM2))
    keys["tokenizer.ggml.tokens"] = keys["tokenizer.ggml.tokens"] + ["qzxqzx"]
    keys["tokenizer.ggml.token_type"] = keys["tokenizer.ggml.token_type"] + [1]
    for pre in "llama-bpe", "gpt-2":
        reference.write_vocabulary(tmp_path / "v.gguf", keys, pre)
        ours = reference.run("tokenize", tmp_path / "v.gguf", "--json", "--text", "qzxqzx")
        assert ours == [reference.build(keys, pre).encode("qzxqzx").ids]
        assert (ours == [[49152]]) == (pre == "llama-bpe")


@needs_smollm2
def test_lines_of_a_file_are_lists_of_ids(tmp_path):
    (tmp_path / "texts").write_bytes(b"one two\n\n  three\r\nlast <|im_end|>")
    ours = reference.run("tokenize", reference.SMOLLM2, "--file", tmp_path / "texts", "--json")
    theirs = reference.build(read_keys(reference.SMOLLM2), "smollm")
    assert ours == [theirs.encode(text).ids
                    for text in ("one two", "", "  three\r", "last <|im_end|>")]


@needs_smollm2
def test_bytes_without_a_token_are_reported():
    done = subprocess.run([reference.PROGRAM, "tokenize", reference.SMOLLM2, "--json", "--escaped"],
                          input=json.dumps("a\x04b").encode(), capture_output=True, check=True)
    assert b"1 byte" in done.stderr and b"left out" in done.stderr


@needs_qwen
def test_a_long_text_has_equal_ids():
    generator = random.Random(5)
    text = "".join(generator.choices(corpus.SENTENCES, k=4000))
    keys = read_keys(reference.QWEN)
    ours = reference.run("tokenize", reference.QWEN, "--json", "--escaped", lines=[text])
    assert ours == [reference.build(keys, "qwen2").encode(text).ids]
