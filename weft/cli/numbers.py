"""Numbers on the command line."""

from __future__ import annotations

import argparse


def count(text: str) -> int:
    """A number of things."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)


def positive(text: str) -> int:
    """A number of things of which there must be one."""
    if count(text) == 0:
        raise argparse.ArgumentTypeError("0 would be none at all")
    return int(text)
