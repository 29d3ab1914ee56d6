"""How `call` of a layer is called: which arguments it takes, and what is passed on to it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.graph.tensor_util import is_tensor
from weft.lib.keras.backend.graph_state import state_of
from weft.lib.keras.backend.phase import learning_phase
from weft.lib.keras.backend.symbolic import in_symbolic_graph, runs_eagerly
from weft.lib.keras.engine.call_context import call_context
from weft.lib.keras.engine.effects import keeping_effects
from weft.lib.keras.engine.layer_nodes import mask_of
from weft.ops.math import casts


class LayerCalls:
    call: Callable[..., Any]

    def _call_function(self) -> Callable[..., Any]:
        """`call`; in that of a user, Python's conditionals and loops may be of tensors.

        Values need no help there, and a debugger should show the code as it was written.
        """
        if type(self).__module__.startswith("weft.") or runs_eagerly():
            return self.call
        from weft.graph.conversion_status import control_status_ctx
        from weft.lib.autograph.api import tf_convert

        call: Callable[..., Any] = tf_convert(self.call, control_status_ctx())
        return keeping_effects(call) if in_symbolic_graph() else call

    @functools.cached_property
    def _call_spec(self) -> inspect.FullArgSpec:
        # A `tf.function` says what it was made from.
        return inspect.getfullargspec(getattr(self.call, "python_function", self.call))

    @functools.cached_property
    def _call_fn_args(self) -> list[str]:
        """The names of the arguments of `call`, the inputs first."""
        names = self._call_spec.args
        return names[1:] if names and names[0] == "self" else names

    @functools.cached_property
    def _call_accepts_kwargs(self) -> bool:
        return self._call_spec.varkw is not None

    @functools.cached_property
    def _expects_training_arg(self) -> bool:
        return "training" in self._call_fn_args or self._call_accepts_kwargs

    @functools.cached_property
    def _expects_mask_arg(self) -> bool:
        return "mask" in self._call_fn_args or self._call_accepts_kwargs

    def _call_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments besides the inputs, by name."""
        return {**dict(zip(self._call_fn_args[1:], args, strict=False)), **kwargs}

    def _pass_mask(self, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The masks of the inputs; `call` gets them too, if it takes a mask."""
        given = self._call_arguments(args, kwargs)
        if "mask" in given:
            return given["mask"]
        if not self._takes_masks_from_inputs():
            return None
        masks = nest.map_structure(mask_of, inputs)
        if all(mask is None for mask in nest.flatten(masks)):
            return None
        if self._expects_mask_arg:
            kwargs["mask"] = masks
        return masks

    def _takes_masks_from_inputs(self) -> bool:
        return True

    def _pass_training(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`training` as it was passed, else as passed to the layer around this one, or as set."""
        given = self._call_arguments(args, kwargs)
        if "training" in given:
            if not self._expects_training_arg:
                kwargs.pop("training")
            return given["training"]
        training = call_context().training
        if training is None and (isinstance(state_of().learning_phase, int) or in_symbolic_graph()):
            training = learning_phase()
        if self._expects_training_arg and training is not None:
            is_symbol = is_tensor(training)
            training = casts.cast(training, "bool") if is_symbol else bool(training)
            kwargs["training"] = training
        return training
