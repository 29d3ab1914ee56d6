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


def port(text: str) -> int:
    """A port of the machine, or 0."""
    if count(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port: they end at 65535")
    return int(text)
