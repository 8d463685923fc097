# SPDX-License-Identifier: Apache-2.0
"""GGUF block types to float32, written from the block layouts (ggml-common.h)."""
import numpy as np


def _f16(blocks, at):
    """[..., 1] float32 of the half at byte `at` of each block."""
    return np.ascontiguousarray(blocks[..., at:at + 2]).view("<f2").astype(np.float32)


def _nibbles(packed):
    """Low nibbles of all bytes, then the high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=-1)


def _bits32(blocks, at):
    return np.unpackbits(np.ascontiguousarray(blocks[..., at:at + 4]), axis=-1, bitorder="little")


def _q4_0(b):
    return _f16(b, 0) * (_nibbles(b[..., 2:]).astype(np.float32) - 8)


def _q4_1(b):
    return _f16(b, 0) * _nibbles(b[..., 4:]) + _f16(b, 2)


def _q5_0(b):
    q = _nibbles(b[..., 6:]) | (_bits32(b, 2) << 4)
    return _f16(b, 0) * (q.astype(np.float32) - 16)


def _q8_0(b):
    return _f16(b, 0) * np.ascontiguousarray(b[..., 2:]).view(np.int8)


def _sub_scales(b):
    """The eight 6-bit scales and mins of bytes 4..15."""
    s = b[..., 4:16]
    low, mid, high = s[..., 0:4], s[..., 4:8], s[..., 8:12]
    scale = np.concatenate([low & 63, (high & 15) | (low >> 6 << 4)], axis=-1)
    least = np.concatenate([mid & 63, (high >> 4) | (mid >> 6 << 4)], axis=-1)
    return scale.astype(np.float32)[..., None], least.astype(np.float32)[..., None]


def _k_blocks(b, q):
    """q [..., 8, 32]"""
    scale, least = _sub_scales(b)
    d, d_least = _f16(b, 0)[..., None], _f16(b, 2)[..., None]
    return (d * scale * q - d_least * least).reshape(*b.shape[:-1], 256)


def _pairs_of_32(packed):
    """128 bytes: per 32 of them, 32 low nibbles, then 32 high ones -> [..., 8, 32]"""
    groups = packed.reshape(*packed.shape[:-1], 4, 32)
    return np.stack([groups & 15, groups >> 4], axis=-2).reshape(*packed.shape[:-1], 8, 32)


def _q4_k(b):
    return _k_blocks(b, _pairs_of_32(b[..., 16:]))


def _q5_k(b):
    fifth = b[..., None, 16:48] >> np.arange(8, dtype=np.uint8)[:, None] & 1
    return _k_blocks(b, _pairs_of_32(b[..., 48:]) | fifth << 4)


def _q6_k(b):
    low = b[..., 0:128].reshape(*b.shape[:-1], 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], axis=-2).reshape(*b.shape[:-1], 2, 4, 32)
    high = b[..., 128:192].reshape(*b.shape[:-1], 2, 1, 32)
    high = high >> np.array([0, 2, 4, 6], dtype=np.uint8)[:, None] & 3
    q = (low | high << 4).reshape(*b.shape[:-1], 16, 16).astype(np.float32) - 32
    scale = np.ascontiguousarray(b[..., 192:208]).view(np.int8).astype(np.float32)
    return (_f16(b, 208)[..., None] * scale[..., None] * q).reshape(*b.shape[:-1], 256)


def _bf16(b):
    wide = np.ascontiguousarray(b).view("<u2").astype(np.uint32) << 16
    return wide.view(np.float32)


KINDS = {"F32": lambda b: np.ascontiguousarray(b).view("<f4"), "F16": lambda b: _f16(b, 0),
         "BF16": _bf16, "Q4_0": _q4_0, "Q4_1": _q4_1, "Q5_0": _q5_0, "Q8_0": _q8_0, "Q4_K": _q4_k,
         "Q5_K": _q5_k, "Q6_K": _q6_k}


def dequantize(type_name, blocks):
    """blocks uint8 [rows, blocks, bytes] -> float32 [rows, columns]"""
    values = KINDS[type_name](blocks)
    return np.ascontiguousarray(values, dtype=np.float32).reshape(blocks.shape[0], -1)
