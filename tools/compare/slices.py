# SPDX-License-Identifier: Apache-2.0
"""Two sides in turn, in short slices, and what the pairs say: hosts are shared, and what slows one slice
slows its neighbour."""
from statistics import median


class Pairs:
    """What each side took in each slice, by question."""

    def __init__(self):
        self.times = {}  # question: {side: [median of a slice]}
        self.least = {}  # the same: what the machine could do at best, by the limits of that slice

    def add(self, question, side, answer):
        self.times.setdefault(question, {}).setdefault(side, []).append(median(answer["ms"]))
        self.least.setdefault(question, {}).setdefault(side, []).append(answer.get("roofline_now_ms"))

    def median(self, question, side):
        found = self.times.get(question, {}).get(side)
        return median(found) if found else None

    def of_roofline(self, question, side):
        """The median over slices of side's time by the roofline of the same slice."""
        return median(took / least for took, least in zip(self.times[question][side], self.least[question][side]))

    def ratio(self, question, side, other, other_question=None):
        """The median over slices of side's time by other's, in the same slice."""
        ours = self.times.get(question, {}).get(side)
        theirs = self.times.get(other_question or question, {}).get(other)
        return median(a / b for a, b in zip(ours, theirs)) if ours and theirs else None


def in_turn(sides, questions, rounds, repeats, say):
    """sides: {name: server}; questions: [(kind, rows, names of the sides asked)]. A B A B ..."""
    pairs = Pairs()
    for number in range(1, rounds + 1):
        for server in sides.values():
            if "isa" in server.about:
                server.ask("limits")  # the best of all slices counts
        for kind, rows, names in questions:
            for name in names:
                if name in sides:
                    pairs.add((kind, rows), name, sides[name].ask(kind, rows, repeats))
        say(f"slice {number} of {rounds}")
    return pairs
