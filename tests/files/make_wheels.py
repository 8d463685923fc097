# SPDX-License-Identifier: Apache-2.0
"""make_wheels.py FOLDER FILE N: wheels redline_test_part1 to N, each holding an Nth of FILE."""
import sys
import zipfile
from pathlib import Path

folder, count = Path(sys.argv[1]), int(sys.argv[3])
content = Path(sys.argv[2]).read_bytes()
for part in range(1, count + 1):
    name = f"redline_test_part{part}"
    piece = content[len(content) * (part - 1) // count:len(content) * part // count]
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/data/part{part:02}.bin", piece)
        info = f"{name}-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL",
                       "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
