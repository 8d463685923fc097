# SPDX-License-Identifier: Apache-2.0
"""The oracle: a llama or qwen2 forward of the dequantised weights in float32, with NumPy alone.

    python tools/oracle/forward.py MODEL.gguf --ids FILE --logits OUT.npy

FILE holds one JSON list of ids a line; OUT is float32 [all positions, V], text after text.
One layer's weights are in memory at a time.
"""
import argparse
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from dequantize import dequantize  # noqa: E402
from gguf_file import GgufFile  # noqa: E402

HEAD_ROWS = 8192  # of the vocabulary at a time


class Oracle:
    def __init__(self, path):
        self.file = GgufFile(path)
        values = self.file.values
        self.kind = values["general.architecture"]
        if self.kind not in ("llama", "qwen2"):
            raise ValueError(f"architecture {self.kind}: known are llama, qwen2")
        get = lambda key, default=None: values.get(f"{self.kind}.{key}", default)  # noqa: E731
        self.layers, self.hidden = get("block_count"), get("embedding_length")
        self.heads = get("attention.head_count")
        self.kv_heads = get("attention.head_count_kv", self.heads)
        self.head_size = get("attention.key_length", self.hidden // self.heads)
        self.epsilon = np.float32(get("attention.layer_norm_rms_epsilon"))
        half = self.head_size // 2
        self.frequencies = get("rope.freq_base", 10000.0) ** (-np.arange(half) / half)
        if "rope_freqs.weight" in self.file.tensors:
            self.frequencies /= self.matrix("rope_freqs.weight").reshape(-1)
        if get("rope.scaling.type", "linear") == "linear":
            self.frequencies /= get("rope.scaling.factor", get("rope.scale_linear", 1.0))

    def matrix(self, name, rows=slice(None)):
        type_name, blocks = self.file.raw(name)
        return dequantize(type_name, blocks[rows])

    def vector(self, name):
        return self.matrix(name).reshape(-1)

    def logits(self, texts):
        """texts: lists of ids -> float32 [all positions, V]"""
        bounds = np.cumsum([0] + [len(text) for text in texts])
        ids = np.concatenate([np.asarray(text, np.int64) for text in texts])
        distinct, where = np.unique(ids, return_inverse=True)
        x = self.matrix("token_embd.weight", distinct)[where]
        for layer in range(self.layers):
            at = f"blk.{layer}."
            normed = self.norm(x, at + "attn_norm.weight")
            q, k, v = (self.linear(normed, at + f"attn_{part}") for part in "qkv")
            mixed = np.concatenate([self.attend(q[a:b], k[a:b], v[a:b])
                                    for a, b in zip(bounds, bounds[1:])])
            x = x + self.linear(mixed, at + "attn_output")
            normed = self.norm(x, at + "ffn_norm.weight")
            gate = self.linear(normed, at + "ffn_gate")
            gate = gate / (1 + np.exp(-gate)) * self.linear(normed, at + "ffn_up")
            x = x + self.linear(gate, at + "ffn_down")
        return self.head(self.norm(x, "output_norm.weight"))

    def head(self, normed):
        name = "output.weight" if "output.weight" in self.file.tensors else "token_embd.weight"
        vocab = self.file.raw(name)[1].shape[0]
        out = np.empty((len(normed), vocab), np.float32)
        for row in range(0, vocab, HEAD_ROWS):
            rows = slice(row, min(row + HEAD_ROWS, vocab))
            out[:, rows] = normed @ self.matrix(name, rows).T
        return out

    def norm(self, x, name):
        scale = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.epsilon)
        return x * scale * self.vector(name)

    def linear(self, x, name):
        out = x @ self.matrix(name + ".weight").T
        if name + ".bias" in self.file.tensors:
            out = out + self.vector(name + ".bias")
        return out

    def rotate(self, x):
        """x [T, heads, E]: pairs (2i, 2i+1) for llama, (i, i + E/2) for qwen2."""
        angles = np.arange(len(x))[:, None] * self.frequencies
        c, s = (f(angles).astype(np.float32)[:, None, :] for f in (np.cos, np.sin))
        half = self.head_size // 2
        if self.kind == "llama":
            a, b = x[..., 0::2], x[..., 1::2]
            return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(x.shape)
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)

    def attend(self, q, k, v):
        count, size = len(q), self.head_size
        q = self.rotate(q.reshape(count, self.heads, size))
        k = self.rotate(k.reshape(count, self.kv_heads, size))
        v = v.reshape(count, self.kv_heads, size)
        hidden_from = np.triu(np.full((count, count), -np.inf, np.float32), 1)
        out = np.empty_like(q)
        for h in range(self.heads):
            g = h // (self.heads // self.kv_heads)
            scores = q[:, h] @ k[:, g].T / np.float32(np.sqrt(size)) + hidden_from
            p = np.exp(scores - scores.max(axis=-1, keepdims=True))
            out[:, h] = p @ v[:, g] / p.sum(axis=-1, keepdims=True)
        return out.reshape(count, -1)


def read_ids(path):
    lines = pathlib.Path(path).read_text().splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--ids", required=True, help="one JSON list of ids a line")
    parser.add_argument("--logits", required=True, help="npy file to write")
    args = parser.parse_args()
    np.save(args.logits, Oracle(args.model).logits(read_ids(args.ids)))


if __name__ == "__main__":
    main()
