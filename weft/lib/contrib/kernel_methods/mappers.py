"""Maps of rows of features to longer rows, whose products are a kernel of the first ones."""

from __future__ import annotations

import abc
import math as numbers

import numpy as np

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.tensor import Tensor
from weft.ops.math import math, unary
from weft.ops.math.matmul import matmul


class InvalidShapeError(Exception):
    """A tensor is not of the shape that a map wants."""


class DenseKernelMapper(abc.ABC):
    """A map of dense rows to dense rows."""

    @abc.abstractmethod
    def map(self, input_tensor: Tensor) -> Tensor:
        """The rows that become of those of `input_tensor`."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the map."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """The length of the new rows."""


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Cosines of random projections, whose products approximate the Gaussian kernel.

    `seed` determines the projections: the same one in training and evaluation.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        stddev: float = 1.0,
        seed: int = 1,
        name: str | None = None,
    ) -> None:
        self._sizes, self._stddev, self._seed = (input_dim, output_dim), stddev, seed
        self._name = name

    @property
    def name(self) -> str:
        """The given name, or the number of the object."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """The length of the rows that are mapped."""
        return self._sizes[0]

    @property
    def output_dim(self) -> int:
        """The length of the new rows."""
        return self._sizes[1]

    def _projection(self) -> tuple[Tensor, Tensor]:
        """Random directions and phases, the same for every call."""
        drawn = np.random.RandomState(self._seed)
        directions = drawn.normal(scale=1.0 / self._stddev, size=self._sizes)
        phases = drawn.uniform(low=0.0, high=2 * np.pi, size=[self.output_dim])
        return constant(directions, dtypes.float32), constant(phases, dtypes.float32)

    def map(self, input_tensor: Tensor) -> Tensor:
        """The cosines for each row."""
        shape = input_tensor.get_shape()
        if len(shape) != 2:
            said = f"The shape of the tensor should be 2. Got {len(shape)} instead."
            raise InvalidShapeError(said)
        if shape[1] != self.input_dim:
            said = f"expected {self.input_dim} input features, got {int(shape[1])} instead."
            raise InvalidShapeError(f"Invalid dimension: {said}")
        directions, phases = self._projection()
        angles = math.add(matmul(input_tensor, directions), phases)
        return numbers.sqrt(2.0 / self.output_dim) * unary.cos(angles)
