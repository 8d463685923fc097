# SPDX-License-Identifier: Apache-2.0
"""Reads a GGUF file with NumPy alone. For checks from outside: shares no code with the framework."""
import struct

import numpy as np

SCALARS = {0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "<u1",
           10: "<u8", 11: "<i8", 12: "<f8"}
TEXT, ARRAY = 8, 9
# type number: (name, weights of a block, bytes of a block)
BLOCKS = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20),
          6: ("Q5_0", 32, 22), 8: ("Q8_0", 32, 34), 12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176),
          14: ("Q6_K", 256, 210), 30: ("BF16", 1, 2)}


class GgufFile:
    def __init__(self, path):
        self.bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self.at = 0
        magic, version, tensors, values = self._unpack("<4sIQQ")
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"{path}: {magic!r} version {version} is no GGUF of version 2 or 3")
        self.values = {}
        for _ in range(values):
            key = self._text()
            self.values[key] = self._value(self._unpack("<I")[0])
        self.tensors = {}  # name: (type, shape fastest first, offset)
        for _ in range(tensors):
            name = self._text()
            dims = self._unpack("<I")[0]
            shape = self._unpack(f"<{dims}Q")
            self.tensors[name] = (*self._unpack("<I"), shape, *self._unpack("<Q"))
        alignment = self.values.get("general.alignment", 32)
        self.data = -(-self.at // alignment) * alignment

    def raw(self, name):
        """(type name, blocks as uint8 [rows, blocks, bytes])"""
        kind, shape, offset = self.tensors[name]
        type_name, weights, size = BLOCKS[kind]
        rows = int(np.prod(shape[1:], dtype=np.int64))
        count = shape[0] // weights
        start = self.data + offset
        flat = self.bytes[start:start + rows * count * size]
        return type_name, flat.reshape(rows, count, size)

    def _unpack(self, form):
        size = struct.calcsize(form)
        found = struct.unpack(form, self.bytes[self.at:self.at + size].tobytes())
        self.at += size
        return found

    def _text(self):
        size = self._unpack("<Q")[0]
        self.at += size
        return self.bytes[self.at - size:self.at].tobytes().decode("utf-8", "replace")

    def _value(self, kind):
        if kind == TEXT:
            return self._text()
        if kind == ARRAY:
            item, count = self._unpack("<IQ")
            if item == TEXT:
                return [self._text() for _ in range(count)]
            size = count * np.dtype(SCALARS[item]).itemsize
            self.at += size
            return np.frombuffer(self.bytes[self.at - size:self.at].tobytes(), SCALARS[item])
        size = np.dtype(SCALARS[kind]).itemsize
        self.at += size
        return np.frombuffer(self.bytes[self.at - size:self.at].tobytes(), SCALARS[kind])[0].item()
