"""Distributions of loc + scale z, where z has a standard form."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.base import Distribution
from weft.lib.distributions.checks import checking
from weft.lib.distributions.parameter import Parameter
from weft.lib.distributions.reparameterization import FULLY_REPARAMETERIZED
from weft.ops.array import array
from weft.ops.control.check import assert_positive
from weft.ops.control.check_types import assert_same_float_dtype


class LocationScale(Distribution):
    """What distributions with a place and a width share."""

    loc = Parameter("Where it is.")
    scale = Parameter("How wide it is.")

    def __init__(
        self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str,
        parameters: dict[str, Any],
    ) -> None:  # fmt: skip
        with name_scope(name, values=[loc, scale]) as name:
            with checking(validate_args, lambda: [assert_positive(scale)]):
                self.loc = array.identity(loc, name="loc")
                self.scale = array.identity(scale, name="scale")
                assert_same_float_dtype([self.loc, self.scale])
        super().__init__(
            self.scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self.loc, self.scale], name,
        )  # fmt: skip

    def _z(self, x: Any) -> Tensor:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale

    def _of_z(self, z: Any) -> Tensor:
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _loc_of_all(self) -> Tensor:
        return self.loc + array.zeros_like(self.scale)

    def _scale_of_all(self) -> Tensor:
        return self.scale + array.zeros_like(self.loc)
