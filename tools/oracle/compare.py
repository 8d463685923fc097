# SPDX-License-Identifier: Apache-2.0
"""Mean KL(oracle || redline) of whole models on mixed prompts: code, chat, JSON, German, Chinese.

    python tools/oracle/compare.py build/bin/redline MODEL... [--prompts FILE] [--flags "--threads 2"]

MODEL is a name redline knows or a path. The first position of each text is left out.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from forward import Oracle, read_ids  # noqa: E402


def log_softmax(logits):
    logits = logits.astype(np.float64)
    logits -= logits.max(axis=-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def kl_of_positions(oracle, other, lengths):
    """KL(oracle || other) in nats at each position but the first of each text."""
    found, start = [], 0
    for length in lengths:
        for row in range(start + 1, start + length):
            p, q = log_softmax(oracle[row]), log_softmax(other[row])
            found.append(float(np.sum(np.exp(p) * (p - q))))
        start += length
    return np.array(found)


def redline_logits(program, model, ids_path, flags=()):
    """float32 [all positions, V] of `redline logits`."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "logits.npy"
        subprocess.run([program, "logits", model, "--ids", str(ids_path), "--full", str(out), *flags],
                       check=True, stdout=subprocess.DEVNULL)
        return np.load(out)


def compare(program, model, ids_path, flags=()):
    """(KL of positions, share of positions with the oracle's argmax)"""
    known = json.loads(subprocess.check_output([program, "models", "--json"]))
    path = {one["name"]: one["path"] for one in known}.get(model, model)
    texts = read_ids(ids_path)
    oracle, other = Oracle(path).logits(texts), redline_logits(program, model, ids_path, flags)
    same = np.mean(oracle.argmax(axis=-1) == other.argmax(axis=-1))
    return kl_of_positions(oracle, other, [len(text) for text in texts]), same


def tokenize(program, model, prompts, ids):
    """prompts: a file of one JSON string a line -> ids: an open file of one JSON list a line"""
    subprocess.run([program, "tokenize", model, "--file", str(prompts), "--escaped", "--special",
                    "--json"], check=True, stdout=ids)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--prompts", default=str(HERE / "prompts.jsonl"), help="one JSON string a line")
    parser.add_argument("--flags", default="", help="further flags of redline logits")
    args = parser.parse_args()
    for model in args.models:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as ids:
            tokenize(args.program, model, args.prompts, ids)
            kl, same = compare(args.program, model, ids.name, shlex.split(args.flags))
        print(f"{model}: mean KL {kl.mean():.6f}, median {np.median(kl):.6f}, largest "
              f"{kl.max():.4f}, argmax equal {100 * same:.1f} %, {len(kl)} positions", flush=True)


if __name__ == "__main__":
    main()
