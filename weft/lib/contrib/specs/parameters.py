"""Random numbers for specifications of parameters, beside the functions of `math`."""

from __future__ import annotations

import math
import random
from math import *  # noqa: F403


def Uf(lo: float = 0.0, hi: float = 1.0) -> float:
    """A number between two others, all as likely."""
    return random.uniform(lo, hi)


def Ui(lo: int, hi: int) -> int:
    """A whole number between two others, all as likely."""
    return random.randint(lo, hi)


def Lf(lo: float, hi: float) -> float:
    """A number between two others, whose logarithms are all as likely."""
    return math.exp(Uf(math.log(lo), math.log(hi)))


def Li(lo: int, hi: int) -> int:
    """A whole number between two others, whose logarithms are all as likely."""
    return math.floor(Lf(lo, hi + 1 - 1e-5))


def Nt(mu: float, sigma: float, limit: float = 3.0) -> float:
    """A number of a normal distribution, cut off at `limit` times its width."""
    far = limit * sigma
    return mu + max(-far, min(far, random.gauss(0.0, sigma)))
