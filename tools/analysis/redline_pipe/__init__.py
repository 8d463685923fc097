# SPDX-License-Identifier: Apache-2.0
"""The other end of the plugin draft_pipe: a drafter in Python, started by redline.

    import redline_pipe
    redline_pipe.serve(lambda ask: ask.tokens[-3:])  # mode delta: repeat the last three

The bytes are described in plugins/draft_pipe/README.md."""
import mmap
import os
import select
import socket
import struct
import threading
from typing import NamedTuple

import numpy as np

__all__ = ["Ask", "Exchange", "Pipe", "serve"]

MEMORY, SOCKET = 3, 4  # the descriptors redline gives
HEADER = struct.Struct("<8s4i5q")
ASK = struct.Struct("<2q6i")


class Ask(NamedTuple):
    """One sequence, or in mode row one node of its draft."""
    sequence: int       # the request, the same in every exchange until it ends
    tokens: np.ndarray  # int32[n], a view: prompt, output and, in mode row, what is drafted so far
    prompt_tokens: int
    drafted: int        # how many of `tokens`, at their end, are drafted
    max_nodes: int      # how much more may be drafted
    max_depth: int
    vocab: int
    is_row: bool        # what is asked for: a row, or tokens


class Exchange:
    """What redline asks at once, and where the answers go. Valid until the next one."""

    def __init__(self, memory):
        magic, mode, vocab, asks, ended, ended_at, self._counts, self._payload, self._stride, _ = \
            HEADER.unpack_from(memory)
        if magic != b"redpipe1":
            raise ValueError(f"{magic!r} is no exchange of draft_pipe, version 1")
        self._memory = memory
        self.ended = np.frombuffer(memory, "<i8", ended, ended_at).tolist()
        self.asks = []
        for k in range(asks):
            sequence, at, tokens, prompt, drafted, nodes, depth, _ = \
                ASK.unpack_from(memory, HEADER.size + k * ASK.size)
            self.asks.append(Ask(sequence, np.frombuffer(memory, "<i4", tokens, at), prompt, drafted,
                                 nodes, depth, vocab, mode == 1))

    def answer(self, k, value):
        """The draft for asks[k]. Mode delta: a chain of tokens, or a pair (parents, tokens) where parent 0
        is the text and n the n-th token given. Mode row: a law over V, or None to stop there."""
        is_row = self.asks[k].is_row
        if is_row:
            data = np.empty(0, "<f4") if value is None else np.asarray(value, "<f4")
            if data.size not in (0, self.asks[k].vocab):
                raise ValueError(f"a row of {data.size} entries, V = {self.asks[k].vocab}")
            count = int(value is not None)
        else:
            tokens = value[1] if isinstance(value, tuple) else value
            parents = value[0] if isinstance(value, tuple) else range(len(tokens))
            data = np.array([list(parents), list(tokens)], "<i4").T.reshape(-1)
            count = data.size // 2
            if count > self.asks[k].max_nodes:
                raise ValueError(f"{count} tokens given, at most {self.asks[k].max_nodes} fit")
        at = self._payload + k * self._stride
        self._memory[at:at + data.nbytes] = data.tobytes()
        struct.pack_into("<i", self._memory, self._counts + 4 * k, count)


class Pipe:
    """Iterates over the exchanges until redline ends."""

    def __init__(self):
        self._socket = socket.socket(fileno=SOCKET)
        self._map = mmap.mmap(MEMORY, os.fstat(MEMORY).st_size)
        threading.Thread(target=self._end_with_redline, daemon=True).start()

    def __iter__(self):
        self._socket.sendall(b"!")  # ready
        while self._socket.recv(1):
            if struct.unpack_from("<q", self._map, HEADER.size - 8)[0] > len(self._map):
                self._map = mmap.mmap(MEMORY, os.fstat(MEMORY).st_size)
            yield Exchange(self._map)
            self._socket.sendall(b"!")

    @staticmethod
    def _end_with_redline():
        """A drafter that hangs does not see that redline was killed; this does."""
        gone = select.poll()
        gone.register(SOCKET, 0)  # a hang-up is told unasked
        gone.poll()
        os._exit(1)


def serve(draft, ended=lambda sequence: None):
    """Answers each ask by draft(ask); `ended` hears of each request that has ended, by its id."""
    for exchange in Pipe():
        for sequence in exchange.ended:
            ended(sequence)
        for k, ask in enumerate(exchange.asks):
            exchange.answer(k, draft(ask))
