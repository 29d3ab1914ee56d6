"""Kernels that a GPU was given as one graph -> the instructions of the program that they belong to.

XLA hands a GPU many kernels at once, and of each of them a profile knows only the name. A kernel
that XLA made is named after a fusion, and serves all fusions that are alike; a library's has a name
of its own. But kernels run in the order in which the program lists its instructions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{\s*$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (?:\(.*?\) |\S+ )([\w\-]+)\(")
_HELD = re.compile(r"(?:condition|body|to_apply|\w+_computations?)=(%?[\w.\-]+|\{.*?\})")
_READ = re.compile(r"[\w.\-]+")
_ALIKE = re.compile(r'deduplicated_name="([^"]*)"')
_PLAIN = re.compile(r"[^A-Za-z0-9]")

# What runs nothing on the GPU.
_SILENT = frozenset("parameter constant bitcast tuple get-tuple-element after-all".split())
_HOLDS_OTHERS = frozenset("while call conditional".split())


class Schedule:
    """The instructions of a program that run something, in order; which are fusions alike."""

    def __init__(self, text: str) -> None:
        self.names: list[str] = []
        self._alike: dict[str, list[int]] = defaultdict(list)  # one kernel -> places of its uses
        self._kernel: dict[str, str] = {}  # the name that a kernel may have -> that of all alike
        for name, kind, line in _launched(text):
            if kind == "fusion":
                alike = _shared_name(name, line)
                self._alike[alike].append(len(self.names))
                self._kernel[_PLAIN.sub("_", name)] = alike
            self.names.append(name)

    def instructions_of(self, kernels: Sequence[str]) -> list[str]:
        """The instruction of each kernel, given in the order in which they ran."""
        made = [self._kernel.get(_PLAIN.sub("_", kernel)) for kernel in kernels]
        places = self._places(made)
        used = {place for alike in made if alike for place in self._alike[alike]}
        others = [place for place in range(len(self.names)) if place not in used]
        found = [self.names[place] if place is not None else "" for place in places]
        for begin, end in _gaps(places):
            before = places[begin - 1] if begin else None
            after = places[end] if end < len(places) else None
            for i, place in enumerate(_between(others, before, after, end - begin)):
                found[begin + i] = self.names[place]
        return found

    def _places(self, made: Iterable[str | None]) -> list[int | None]:
        """For each kernel that XLA made the next place of it: from there on, or in another run."""
        at, found = -1, list[int | None]()
        for alike in made:
            if alike is None:
                found.append(None)
                continue
            places = self._alike[alike]
            at = places[bisect_right(places, at) % len(places)]
            found.append(at)
        return found


def _shared_name(name: str, line: str) -> str:
    """The same for all fusions that may share a kernel.

    XLA marks those that are alike, but not the ones that it makes late.
    """
    if shared := _ALIKE.search(line):
        return shared[1]
    kind = line.split("=", 1)[1].split("fusion(", 1)[0]
    return f"{name.partition('.')[0]} {kind}"


def _launched(text: str) -> Iterator[tuple[str, str, str]]:
    """Name, kind and line of what runs something, loops' bodies in the places of the loops."""
    computations: dict[str, list[tuple[str, str, str]]] = {}
    entry = name = ""
    for line in text.splitlines():
        if match := _INSTRUCTION.match(line):
            computations[name].append((match[1], match[2], line))
        elif match := _COMPUTATION.match(line):
            name = match[1]
            computations[name] = []
            entry = name if line.startswith("ENTRY") else entry

    def walk(computation: str) -> Iterator[tuple[str, str, str]]:
        for name, kind, line in computations.get(computation, ()):
            if kind in _HOLDS_OTHERS:
                for inner in _READ.findall(" ".join(_HELD.findall(line))):
                    yield from walk(inner)
            elif kind not in _SILENT:
                yield name, kind, line

    return walk(entry)


def _gaps(places: Sequence[int | None]) -> list[tuple[int, int]]:
    """Beginning and end of each row of kernels that XLA has not made."""
    found, begin = [], None
    for i, place in enumerate([*places, 0]):
        if place is None and begin is None:
            begin = i
        if place is not None and begin is not None:
            found.append((begin, i))
            begin = None
    return found


def _between(
    others: Sequence[int], before: int | None, after: int | None, count: int
) -> Iterable[int]:
    """Of the places of `others`, those between two, dealt out in order to `count` kernels."""
    first = bisect_right(others, -1 if before is None else before)
    end = len(others) if after is None else bisect_right(others, after)
    if end < first:  # one run of the program ends and another begins
        end = len(others)
    mine = others[first:end] or others[max(0, first - 1) : first] or others[:1]
    return [mine[i * len(mine) // count] for i in range(count)] if mine else []
