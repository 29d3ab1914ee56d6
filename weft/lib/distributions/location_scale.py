"""Distributions of loc + scale z, where z has a standard form."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.parameter import Parameter
from weft.ops.array import array
from weft.ops.control.check import assert_positive


class LocationScale(Distribution):
    """The base of distributions with a place and a width."""

    loc = Parameter("Where it is.")
    scale = Parameter("How wide it is.")

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str
    ) -> None:
        with self._made_of(locals(), "loc", "scale", like="scale"):
            self._keep(validate_args, lambda: [assert_positive(scale)], loc=loc, scale=scale)

    def _z(self, x: Any) -> Tensor:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale

    def _of_z(self, z: Any) -> Tensor:
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _loc_of_all(self) -> Tensor:
        return self.loc * array.ones_like(self.scale)

    def _scale_of_all(self) -> Tensor:
        return self.scale * array.ones_like(self.loc)
