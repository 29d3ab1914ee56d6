"""The types of a layer: of its variables, and of what it computes with them.

Until the first call both are unknown (None), unless they were given; they are then those of the
input. A policy gives them two different types.
"""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.graph.graph import Tensor
from weft.graph.slices import SparseTensor
from weft.lib.keras.backend.config import floatx
from weft.lib.platform import tf_logging as logging
from weft.lib.ragged.tensor import RaggedTensor
from weft.ops.math import casts

# Set by `enable_v2_dtype_behavior`.
V2_DTYPE_BEHAVIOR = False
# The policy of layers that are given none; set by `mixed_precision.set_policy`.
_global_policy: list[Any] = [None]


def enable_v2_dtype_behavior() -> None:
    """Layers compute in the default float type, and cast what they are called on to it."""
    global V2_DTYPE_BEHAVIOR
    V2_DTYPE_BEHAVIOR = True


def disable_v2_dtype_behavior() -> None:
    """Layers compute in the type of their first input, as they do unless told otherwise."""
    global V2_DTYPE_BEHAVIOR
    V2_DTYPE_BEHAVIOR = False


def v2_dtype_behavior_enabled() -> bool:
    return bool(V2_DTYPE_BEHAVIOR)


def global_policy() -> Any:
    return _global_policy[0]


def set_global_policy(policy: Any) -> None:
    _global_policy[0] = policy


class LayerDtype:
    """`dtype` is that of the variables, `_compute_dtype` that of the computation."""

    _autocast: bool
    # Whether the type was not chosen by the program.
    _dtype_is_floatx = False

    def _set_dtype_policy(self, dtype: Any) -> None:
        policy = dtype if hasattr(dtype, "variable_dtype") else None
        if dtype is None:
            policy = global_policy()
        if policy is not None:
            self._variable_dtype, self._compute_dtype = policy.variable_dtype, policy.compute_dtype
        else:
            name = dtypes.as_dtype(dtype).name if dtype else None
            if name is None and v2_dtype_behavior_enabled():
                name, self._dtype_is_floatx = floatx(), True
            self._variable_dtype = self._compute_dtype = name
        self._dtype_policy = policy

    @property
    def dtype(self) -> Any:
        """The name of the type of the layer's variables, or None until its inputs tell."""
        return self._variable_dtype

    @property
    def _dtype(self) -> Any:
        return self._variable_dtype

    @_dtype.setter
    def _dtype(self, value: Any) -> None:
        self._variable_dtype = self._compute_dtype = dtypes.as_dtype(value).name

    @property
    def _casts_variables(self) -> bool:
        """Whether variables are read in another type than they are kept in."""
        return bool(self._variable_dtype and self._variable_dtype != self._compute_dtype)

    def _infer_dtype(self, inputs: list[Any]) -> None:
        """Takes the type of the first input for what is not known yet."""
        if self._compute_dtype is None and inputs and hasattr(inputs[0], "dtype"):
            name = dtypes.as_dtype(inputs[0].dtype).base_dtype.name
            self._compute_dtype = name
            self._variable_dtype = self._variable_dtype or name

    def _maybe_cast_inputs(self, inputs: Any) -> Any:
        wanted = self._compute_dtype
        if not self._autocast or not wanted or not dtypes.as_dtype(wanted).is_floating:
            return inputs

        def cast(x: Any) -> Any:
            castable = isinstance(x, (Tensor, SparseTensor, RaggedTensor)) and x.dtype.is_floating
            if not castable or x.dtype.base_dtype == wanted:
                return x
            if self._dtype_is_floatx:
                self._warn_of_casting(x.dtype.base_dtype.name)
            if isinstance(x, RaggedTensor):
                return x.with_flat_values(casts.cast(x.flat_values, wanted))
            return casts.cast(x, wanted)

        return nest.map_structure(cast, inputs)

    def _warn_of_casting(self, given: str) -> None:
        if self.__dict__.get("_warned_of_casting"):
            return
        self.__dict__["_warned_of_casting"] = True
        own, name = self._compute_dtype, self.name  # type: ignore[attr-defined]
        logging.warning(
            f"Layer {name} is casting an input tensor from dtype {given} to the layer's dtype of "
            f"{own}, which is new behavior in TensorFlow 2.  The layer has dtype {own} because "
            "it's dtype defaults to floatx.\n\n"
            f"If you intended to run this layer in {own}, you can safely ignore this warning. To "
            f"change all layers to have dtype {given} by default, call "
            f"`tf.keras.backend.set_floatx('{given}')`. To change just this layer, pass "
            f"dtype='{given}' to the layer constructor. If you are the author of this layer, you "
            "can disable autocasting by passing autocast=False to the base Layer constructor.\n"
        )
