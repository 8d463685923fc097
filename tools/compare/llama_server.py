# SPDX-License-Identifier: Apache-2.0
"""llama.cpp behind the protocol of `redline bench forward --serve`: a line asks, a line of JSON answers.

    python llama_server.py MODEL --threads 2 --context 512
      chain ROWS REPEATS     forwards of so many tokens behind the context, all their logits wanted
      prompt ROWS REPEATS    forwards of so many tokens behind nothing, the last one's logits wanted
      batch SEQUENCES TOKENS greedy decoding of so many sequences at once

It runs the low-level calls of the package llama_cpp with that library's own defaults, in a process of
its own so that the package is needed by no other."""
import argparse
import ctypes
import json
import sys
import time

import llama_cpp as lib

PROMPT = 24  # tokens of a sequence before a batch decodes


def check(status, what):
    if status != 0:
        raise RuntimeError(f"{what} gave {status}")


class Model:
    def __init__(self, path, threads, context, sequences):
        self.model = lib.llama_model_load_from_file(path.encode(), lib.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        self.vocab = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(self.model))
        params = lib.llama_context_default_params()
        params.n_ctx = max(context + 1024, sequences * 256)
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = threads
        self.context = lib.llama_init_from_model(self.model, params)
        self.memory = lib.llama_get_memory(self.context)
        self.batch = lib.llama_batch_init(params.n_batch, 0, 1)
        self.greedy = lib.llama_sampler_init_greedy()
        self.filled = 0

    def decode(self, rows):
        """rows: (token, position, sequence, whether its logits are wanted)."""
        self.batch.n_tokens = len(rows)
        for k, (token, position, sequence, wanted) in enumerate(rows):
            self.batch.token[k], self.batch.pos[k] = token, position
            self.batch.n_seq_id[k], self.batch.seq_id[k][0] = 1, sequence
            self.batch.logits[k] = wanted
        begin = time.perf_counter()
        check(lib.llama_decode(self.context, self.batch), "llama_decode")
        lib.llama_synchronize(self.context)
        return 1e3 * (time.perf_counter() - begin)

    def chain(self, first, rows, wanted, sequence=0):
        return self.decode([(p * 7919 % self.vocab, p, sequence, wanted(p)) for p in range(first, first + rows)])

    def fill(self, tokens):
        while self.filled < tokens:
            count = min(512, tokens - self.filled)
            self.chain(self.filled, count, lambda p: False)
            self.filled += count

    def forward(self, rows):
        took = self.chain(self.filled, rows, lambda p: True)
        lib.llama_memory_seq_rm(self.memory, 0, self.filled, -1)
        return took

    def prompt(self, rows):
        lib.llama_memory_clear(self.memory, True)
        took = self.chain(0, rows, lambda p: p == rows - 1)
        lib.llama_memory_clear(self.memory, True)
        filled, self.filled = self.filled, 0
        self.fill(filled)
        return took

    def tokens_of_batch(self, sequences, tokens):
        """Seconds that `sequences` sequences take to grow by `tokens` each."""
        lib.llama_memory_clear(self.memory, True)
        self.filled = 0
        for sequence in range(sequences):
            self.chain(0, PROMPT, lambda p: False, sequence)
        ids = [sequence + 1 for sequence in range(sequences)]
        begin = time.perf_counter()
        for position in range(PROMPT, PROMPT + tokens):
            self.decode([(token, position, sequence, True) for sequence, token in enumerate(ids)])
            ids = [lib.llama_sampler_sample(self.greedy, self.context, k) for k in range(sequences)]
        return time.perf_counter() - begin


def answer(model, context, line):
    name, first, second = line.split()
    first, second = int(first), int(second)
    if name == "batch":
        return {"tokens_per_s": first * second / model.tokens_of_batch(first, second)}
    if name == "prompt":
        return {"ms": [model.prompt(first) for _ in range(second)]}
    model.fill(context)
    model.forward(first)
    return {"ms": [model.forward(first) for _ in range(second)]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--sequences", type=int, default=1)
    arguments = parser.parse_args()
    silent = lib.llama_log_callback(lambda level, text, data: None)
    lib.llama_log_set(silent, ctypes.c_void_p(0))
    model = Model(arguments.model, arguments.threads, arguments.context, arguments.sequences)
    system = lib.llama_print_system_info().decode()
    print(json.dumps({"model": arguments.model, "system": system}), flush=True)
    for line in sys.stdin:
        try:
            print(json.dumps(answer(model, arguments.context, line)), flush=True)
        except (RuntimeError, ValueError) as mistake:
            print(json.dumps({"error": str(mistake)}), flush=True)


if __name__ == "__main__":
    main()
