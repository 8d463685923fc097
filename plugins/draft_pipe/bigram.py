# SPDX-License-Identifier: Apache-2.0
"""A drafter to start from: what followed the last token earlier in the text, smoothed (mode row), or the
commonest of it, again and again (mode delta)."""
import numpy as np
import redline_pipe

SMOOTHING = 0.1  # counts every token gets unseen


def law(tokens, vocab):
    """float32[V]: how often each token followed the last one."""
    counts = np.full(vocab, SMOOTHING)
    after_last = np.flatnonzero(tokens[:-1] == tokens[-1]) + 1
    np.add.at(counts, tokens[after_last], 1)
    return (counts / counts.sum()).astype(np.float32)


def chain(tokens, vocab, length):
    text = tokens
    for _ in range(length):
        text = np.append(text, law(text, vocab).argmax())
    return text[len(tokens):]


def draft(ask):
    if ask.is_row:
        return law(ask.tokens, ask.vocab)
    return chain(ask.tokens, ask.vocab, min(ask.max_nodes, ask.max_depth))


redline_pipe.serve(draft)
