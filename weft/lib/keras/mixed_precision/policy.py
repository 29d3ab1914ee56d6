"""Policies: in which types layers compute, and in which they keep their variables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weft.core import dtypes
from weft.lib.keras import backend as K
from weft.lib.keras.engine import layer_dtype
from weft.lib.keras.mixed_precision.graph_rewrite import graph_rewrite_is_enabled
from weft.lib.platform import tf_logging
from weft.lib.train.optimizers.loss_scale import LossScale, as_loss_scale

_USE_DEFAULT = "USE_DEFAULT"
_FLOAT32_VARIABLES = "_with_float32_vars"
_MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}


class Policy:
    """A type for computing and one for variables, by a name that says both.

    `"float16"` is both; `"infer"` leaves them to the inputs; `"float16_with_float32_vars"`,
    `"mixed_float16"` and their like keep variables in float32.
    """

    def __init__(self, name: str, loss_scale: Any = _USE_DEFAULT) -> None:
        if isinstance(name, dtypes.DType):
            raise TypeError(
                f"'name' must be a string, not a DType. Instead, pass DType.name. Got: {name.name}"
            )
        if not isinstance(name, str):
            raise TypeError(f"'name' must be a string, but got: {name}")
        same = {
            "infer_float32_vars": "infer_with_float32_vars",
            "float32_with_float32_vars": "float32",
        }
        self._name = same.get(name, name)
        self._compute_dtype, self._variable_dtype = _types(self._name)
        if loss_scale == _USE_DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        if loss_scale and self._compute_dtype not in (None, "float16"):
            tf_logging.warning(
                "Creating a Policy with a loss scale is only useful for float16 policies. You "
                "passed loss_scale=%r for policy %s. Consider not passing any loss_scale instead.",
                loss_scale,
                name,
            )
        self._loss_scale = as_loss_scale(loss_scale)

    @property
    def name(self) -> str:
        return self._name

    @property
    def variable_dtype(self) -> str | None:
        """The name of the type of variables, None if inputs tell."""
        return self._variable_dtype

    @property
    def compute_dtype(self) -> str | None:
        """The name of the type layers compute in, None if inputs tell."""
        return self._compute_dtype

    @property
    def should_cast_variables(self) -> bool:
        return self.variable_dtype != self.compute_dtype

    @property
    def loss_scale(self) -> LossScale | None:
        return self._loss_scale

    def __repr__(self) -> str:
        return f'<Policy "{self._name}", loss_scale={self.loss_scale}>'


def _types(name: str) -> tuple[str | None, str | None]:
    """(type to compute in, type of variables)"""
    if name in _MIXED:
        return _MIXED[name], "float32"
    base = name.removesuffix(_FLOAT32_VARIABLES)
    kept_apart = base != name
    if base == "infer":
        return None, "float32" if kept_apart else None
    try:
        kind = dtypes.as_dtype(base).name
    except TypeError:
        message = (
            f"Cannot convert value {name} to a mixed precision Policy. Valid policies include "
            'include those in the form "<dtype>" and "<dtype>_with_float32_vars", where <dtype> '
            "is the name of a dtype."
        )
        if kept_apart:
            message += (
                f" The value {name} ends with _with_float32_vars, but {base} cannot be converted "
                "to a DType"
            )
        raise ValueError(message) from None
    return kind, "float32" if kept_apart else kind


def global_policy() -> Policy:
    """The policy of layers that are given none."""
    policy = layer_dtype.global_policy()
    if policy is not None:
        return policy
    return Policy(K.floatx() if layer_dtype.v2_dtype_behavior_enabled() else "infer")


def set_policy(policy: Any) -> None:
    """Makes `policy`, or that of a name, the policy of layers made from now on; None resets."""
    if graph_rewrite_is_enabled():
        raise ValueError(
            "The mixed precision policy cannot be set, because the mixed precision graph rewrite "
            "has already been enabled.\nAt most, one of the following functions can be called:\n\n"
            "  1. tf.train.experimental.enable_mixed_precision_graph_rewrite() (You called this "
            "first)\n  2. tf.keras.mixed_precision.experimental.set_policy() (You called this "
            "second)"
        )
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy(policy)
    if policy and policy.compute_dtype and not layer_dtype.v2_dtype_behavior_enabled():
        raise ValueError("The global policy can only be set to a non-infer policy in TensorFlow 2")
    layer_dtype.set_global_policy(policy)


@contextmanager
def policy_scope(policy: Any) -> Iterator[None]:
    """Within this scope, `policy` is the global one."""
    before = layer_dtype.global_policy()
    set_policy(policy)
    try:
        yield
    finally:
        set_policy(before)
