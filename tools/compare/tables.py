# SPDX-License-Identifier: Apache-2.0
"""A point's result: a table with a title and remarks, printed for a terminal, as Markdown or as JSON."""
from dataclasses import dataclass, field


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)


@dataclass
class Table:
    title: str
    heads: list
    rows: list = field(default_factory=list)
    remarks: list = field(default_factory=list)

    def add(self, *values):
        self.rows.append(list(values))

    def as_json(self):
        return {"title": self.title, "rows": [dict(zip(self.heads, row)) for row in self.rows], "remarks": self.remarks}

    def text(self):
        cells = [self.heads] + [[shown(v) for v in row] for row in self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.heads))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in cells]
        return "\n".join([self.title, *lines, *self.remarks]) + "\n"

    def markdown(self):
        lines = [self.heads, ["---:"] * len(self.heads)] + [[shown(v) for v in row] for row in self.rows]
        drawn = ["| " + " | ".join(row) + " |" for row in lines]
        drawn[1] = "|" + "|".join(lines[1]) + "|"
        return "\n".join([f"**{self.title}**", "", *drawn, *(["", *self.remarks] if self.remarks else [])]) + "\n"
