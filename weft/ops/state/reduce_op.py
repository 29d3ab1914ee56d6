"""How the values of replicas become one."""

from __future__ import annotations

import enum
from typing import Any

from weft.ops.state.variable_def import VariableAggregation


class ReduceOp(enum.Enum):
    """The sum of the replicas' values, or their mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The reduction that the aggregation of a variable asks for."""
        if aggregation is VariableAggregation.SUM:
            return ReduceOp.SUM
        if aggregation is VariableAggregation.MEAN:
            return ReduceOp.MEAN
        raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation} to"
                         "`tf.distribute.ReduceOp` type")  # fmt: skip


def as_reduce_op(given: Any) -> ReduceOp:
    """`given`, or the operation that a string names."""
    return ReduceOp(given.upper()) if isinstance(given, str) else given
