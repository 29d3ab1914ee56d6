"""Command lines -> words, slices, ranges and intervals."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

_NUMBER = r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?"
# Between spaces: anything, but what stands in brackets or quotes holds together.
_WORD = re.compile(r"""(?:\[[^\]]*\]|"[^"]*"|'[^']*'|\S)+""")
_SIZES = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TIMES = {"us": 1.0, "ms": 1e3, "s": 1e6}


def parse_command(command: str) -> list[str]:
    """The words of a line; quotes around a whole word are taken off."""
    return [_unquoted(found[0]) for found in _WORD.finditer(command)]


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if quoted else word


def extract_output_file_path(args: list[str]) -> tuple[list[str], str | None]:
    """The words without a redirection at their end, and the file it goes to."""
    if not args:
        return args, None
    *before, last = args
    if last.endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if last.startswith(">"):
        # `-e >100` asks for an interval; `lt >100` writes to a file of that name.
        is_value = before and before[-1].startswith("-") and _is_interval(last)
        return (args, None) if is_value else (before, last[1:])
    if before and before[-1].endswith(">"):
        stem = before[-1][:-1]
        return [*before[:-1], *([stem] if stem else [])], last
    word, sign, path = last.partition(">")
    if sign and ">" not in path and not word.endswith("="):
        return [*before, word], path
    return args, None


def parse_tensor_name_with_slicing(in_str: str) -> tuple[str, str]:
    """`x:0[1, :]` -> (`x:0`, `[1, :]`)."""
    name, bracket, rest = in_str.partition("[")
    if in_str.count("[") == 1 and in_str.endswith("]"):
        return name, bracket + rest
    return in_str, ""


def validate_slicing_string(slicing_string: str) -> bool:
    return re.search(r"^\[(\d|,|\s|:)+\]$", slicing_string) is not None


def evaluate_tensor_slice(tensor: np.ndarray, tensor_slicing: str) -> np.ndarray:
    """Part of an array, by a slice as it is written in Python."""
    if not validate_slicing_string(tensor_slicing):
        raise ValueError("Invalid tensor-slicing string.")
    return tensor[tuple(_index(part) for part in tensor_slicing[1:-1].split(","))]


def _index(text: str) -> int | slice:
    ends = [each.strip() for each in text.split(":")]
    if len(ends) == 1:
        return int(ends[0])
    if len(ends) > 3:
        raise ValueError("Invalid tensor-slicing string.")
    return slice(*(int(each) if each else None for each in ends))


def parse_indices(indices_string: str) -> list[int]:
    """`[1, 2]` or `1,2` -> [1, 2]."""
    found = re.fullmatch(r"\s*(?:\[(.*)\]|(.*))\s*", indices_string, re.DOTALL)
    inner, plain = found.groups() if found else (None, "")
    return list(map(int, (plain if inner is None else inner).split(",")))


def parse_ranges(range_string: str) -> list[Any]:
    """`[-inf, 0]` or a list of such pairs -> a list of pairs."""
    text = range_string.strip()
    if not text:
        return []
    ranges: Any = ast.literal_eval(text.replace("inf", repr(sys.float_info.max)))
    if isinstance(ranges, list) and not isinstance(ranges[0], list):
        ranges = [ranges]
    for pair in ranges:
        if len(pair) != 2:
            raise ValueError("Incorrect number of elements in range")
        for which, end in zip(("1st", "2nd"), pair, strict=True):
            if not isinstance(end, (int, float)):
                raise ValueError(f"Incorrect type in the {which} element of range: {type(end)}")
    return list(ranges)


# ---- intervals -----------------------------------------------------------------------------------


@dataclass
class Interval:
    """The numbers between two ends."""

    start: Any
    start_included: bool
    end: Any
    end_included: bool

    def contains(self, value: float) -> bool:
        above = value > self.start or (self.start_included and value == self.start)
        return above and (value < self.end or (self.end_included and value == self.end))


def _parse_interval(interval_str: str) -> Interval:
    """Ends as they are written; None where there is none: `<5`, `>=2k`, `[1, 3)`."""
    text = interval_str.strip()
    found = re.match(r"([<>])(=?)", text)
    if found is not None:
        sign, bound = found[0], text[found.end() :].strip()
        if not re.match(_NUMBER, bound):
            raise ValueError(f"Invalid value string after {sign} in '{text}'")
        closed = bool(found[2])
        if found[1] == "<":
            return Interval(None, False, bound, closed)
        return Interval(bound, closed, None, False)
    if text[:1] not in ("[", "(") or text[-1:] not in ("]", ")"):
        raise ValueError(
            f"Invalid interval format: {text}. Valid formats are: [min, max], (min, max), <max,"
            " >min"
        )
    ends = [end.strip() for end in text[1:-1].split(",")]
    if len(ends) != 2:
        raise ValueError(
            f"Incorrect interval format: {text}. Interval should specify two values: [min, max] or"
            " (min, max)."
        )
    for which, end in zip(("first", "second"), ends, strict=True):
        if not re.match(_NUMBER, end):
            raise ValueError(f"Invalid {which} item in interval: '{end}'")
    return Interval(ends[0], text[0] == "[", ends[1], text[-1] == "]")


def _is_interval(text: str) -> bool:
    try:
        _parse_interval(text)
    except ValueError:
        return False
    return True


def _measured(interval_str: str, read: Any, order: str) -> Interval:
    found = _parse_interval(interval_str)
    start = read(found.start) if found.start else 0
    end = read(found.end) if found.end else float("inf")
    if start > end:
        raise ValueError(f"Invalid interval {interval_str}. {order}")
    return replace(found, start=start, end=end)


def parse_memory_interval(interval_str: str) -> Interval:
    """`[10kB, 20kB]`, `>100G`: in bytes."""
    order = "Start of interval must be less than or equal to end of interval."
    return _measured(interval_str, parse_readable_size_str, order)


def parse_time_interval(interval_str: str) -> Interval:
    """`[10us, 20us]`, `<100s`: in microseconds."""
    order = "Start must be before end of interval."
    return _measured(interval_str, parse_readable_time_str, order)


def parse_readable_size_str(size_str: str) -> int:
    """`1.1kB` -> bytes."""
    text = size_str.strip().removesuffix("B")
    if text.isdigit():
        return int(text)
    if text[-1:] in _SIZES:
        return int(float(text[:-1]) * _SIZES[text[-1]])
    raise ValueError(f'Failed to parsed human-readable byte size str: "{text}"')


def parse_readable_time_str(time_str: str) -> int:
    """`8ms` -> microseconds, which a number without a unit is already."""
    text = time_str.strip()
    unit = next((unit for unit in _TIMES if text.endswith(unit)), "")
    number = text.removesuffix(unit)
    value = float(number)
    if value < 0:
        raise ValueError(f"Invalid time {number}. Time value must be positive.")
    return int(value * _TIMES.get(unit, 1.0))


# ---- arguments of commands -----------------------------------------------------------------------


def new_parser(description: str) -> argparse.ArgumentParser:
    """A parser of a command's words; its help goes without the name of a program."""
    return argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)


_PRINTING: dict[tuple[str, ...], dict[str, Any]] = {
    ("tensor_name",): {
        "help": "The tensor, maybe with a slice: dense/MatMul:0, dense/MatMul:0[1, :]"
    },
    ("-n", "--number"): {
        "type": int, "default": -1, "help": "Which dump of a tensor that has several, from 0."
    },
    ("-r", "--ranges"): {
        "default": "",
        "help": 'Marks elements in these ranges: -r [-0.1,0.1], -r "[[-inf, -0.1], [0.1, inf]]"',
    },
    ("-a", "--all"): {
        "dest": "print_all", "action": "store_true", "help": "All elements, no ellipsis."
    },
    ("-s", "--numeric_summary"): {
        "action": "store_true",
        "help": "Also how many elements are NaN, infinite, negative, zero, positive; their range.",
    },
    ("-w", "--write_path"): {
        "default": "", "help": "A file that the value is written to by numpy.save."
    },
}  # fmt: skip


def get_print_tensor_argparser(description: str) -> argparse.ArgumentParser:
    """The options of commands that print a value."""
    parser = new_parser(description)
    for flags, about in _PRINTING.items():
        parser.add_argument(*flags, **about)
    return parser
