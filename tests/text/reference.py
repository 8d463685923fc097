# SPDX-License-Identifier: Apache-2.0
"""The `tokenizers` package, built from the vocabulary and merges that a GGUF file holds, and the
program under test. Reads of GGUF what these tests need: its keys."""
import json
import os
import struct
import subprocess
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

SOURCE = Path(os.environ.get("REDLINE_SOURCE", Path(__file__).parents[2]))
BUILD = Path(os.environ.get("REDLINE_BUILD", SOURCE / "build" / "release"))
PROGRAM = os.environ.get("REDLINE_PROGRAM", BUILD / "bin" / "redline")
CACHE = Path(os.environ.get("REDLINE_CACHE")
             or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "redline")
SMOLLM2 = CACHE / "models" / "smollm2-135m-instruct-q4_1.gguf"
QWEN_TARGET = CACHE / "models" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
QWEN = CACHE / "models" / "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"

WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|DIGITS"
         r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def read_keys(path):
    """The metadata of a GGUF file as a dictionary."""
    numbers = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
               12: "d"}
    with open(path, "rb") as file:
        def number(kind):
            form = "<" + numbers[kind]
            return struct.unpack(form, file.read(struct.calcsize(form)))[0]

        def value(kind):
            if kind == 8:
                return file.read(number(10)).decode("utf-8", "surrogateescape")
            if kind == 9:
                kind, count = number(4), number(10)
                return [value(kind) for _ in range(count)]
            return number(kind)

        assert file.read(4) == b"GGUF"
        number(4), number(10)
        return {value(8): value(number(4)) for _ in range(number(10))}


def pre_tokenizer(pre):
    """(normalizer, pre-tokenizer, ignore_merges) as the families' own tokenizer files have them."""
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    gpt2 = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)

    def words(digits):
        pattern = Regex(WORDS.replace("DIGITS", digits))
        return pre_tokenizers.Sequence([pre_tokenizers.Split(pattern, "isolated"), bytes_of])

    return {
        "gpt-2": (None, gpt2, False),
        "smollm": (None, pre_tokenizers.Sequence([pre_tokenizers.Digits(True), gpt2]), False),
        "qwen2": (normalizers.NFC(), words(r"\p{N}"), False),
        "llama-bpe": (None, words(r"\p{N}{1,3}"), True),
    }[pre]


def build(keys, pre, specials=False):
    """A tokenizer of the package; with `specials`, control and user-defined tokens are parsed."""
    tokens, kinds = keys["tokenizer.ggml.tokens"], keys["tokenizer.ggml.token_type"]
    merges = [tuple(merge.split(" ")) for merge in keys["tokenizer.ggml.merges"]]
    normalizer, splitter, ignore_merges = pre_tokenizer(pre)
    vocabulary = {token: id for id, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = splitter
    if specials:
        tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True)
                                      for token, kind in zip(tokens, kinds) if kind in (3, 4)])
    return tokenizer


def write_vocabulary(path, keys, pre):
    """A GGUF file without tensors: the keys of a tokenizer, under another pre-tokenizer."""
    def text(value):
        raw = value.encode("utf-8", "surrogateescape")
        return struct.pack("<Q", len(raw)) + raw

    def texts(values):
        return struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))

    kinds = keys["tokenizer.ggml.token_type"]
    entries = {
        "tokenizer.ggml.model": struct.pack("<I", 8) + text("gpt2"),
        "tokenizer.ggml.pre": struct.pack("<I", 8) + text(pre),
        "tokenizer.ggml.tokens": texts(keys["tokenizer.ggml.tokens"]),
        "tokenizer.ggml.merges": texts(keys["tokenizer.ggml.merges"]),
        "tokenizer.ggml.token_type": struct.pack(f"<IIQ{len(kinds)}i", 9, 5, len(kinds), *kinds),
    }
    body = b"".join(text(key) + value for key, value in entries.items())
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + body)


def run(*arguments, lines=None):
    """What the program prints, a parsed JSON value a line."""
    given = None if lines is None else "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = subprocess.run([PROGRAM, *map(str, arguments)], input=given, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.decode().splitlines()]
