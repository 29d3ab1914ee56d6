"""A recurrent layer run over sequences in both directions."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import name_scope
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.network_shapes import as_shapes
from weft.lib.keras.layers.rnn_arguments import made_by_keras, separated, specs_of
from weft.lib.keras.layers.serialization import deserialize, serialize
from weft.lib.keras.layers.wrappers import Wrapper
from weft.lib.keras.utils.generic import has_arg
from weft.ops.array import join as array_join
from weft.ops.array import reverse as array_reverse

_MERGED = {
    "concat": lambda forward, backward: array_join.concat([forward, backward], -1),
    "sum": lambda forward, backward: forward + backward,
    "ave": lambda forward, backward: (forward + backward) / 2,
    "mul": lambda forward, backward: forward * backward,
    None: lambda forward, backward: [forward, backward],
}


class Bidirectional(Wrapper):
    """A layer forward and another backward in time; `merge_mode` says what becomes of the two.

    Both are new layers with the configuration of `layer`, but `backward_layer` is used as it is.
    """

    def __init__(
        self,
        layer: Any,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `Layer` instance. You passed: "
                f"{layer}"
            )
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(
                f"`backward_layer` need to be a `Layer` instance. You passed: {backward_layer}"
            )
        if merge_mode not in _MERGED:
            raise ValueError(
                "Invalid merge mode. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        super().__init__(layer, **kwargs)
        # The layer that was given is a pattern; its weights are not ours.
        self.__dict__.get("_tracked", {}).pop("layer", None)
        self.forward_layer = _again(layer)
        if backward_layer is None:
            self.backward_layer = _again(layer, other_way=True)
        else:
            self.backward_layer = backward_layer
            self._backward_layer_config = serialize(backward_layer)
        self._set_up_both(weights)
        self.merge_mode = merge_mode
        # Even if its layers keep states: as in TensorFlow 1.15, a prediction leaves them alone, and
        # `reset_states` of a model does, too.
        self.stateful = False
        self.return_sequences = self.forward_layer.return_sequences
        self.return_state = self.forward_layer.return_state
        self.supports_masking = True
        self._num_constants = 0
        self.input_spec = layer.input_spec

    def _set_up_both(self, weights: Any) -> None:
        forward, backward = self.forward_layer, self.backward_layer
        forward._name, backward._name = "forward_" + forward.name, "backward_" + backward.name
        _check_pair(forward, backward)
        for each in (forward, backward):
            if getattr(each, "zero_output_for_mask", None) is not None:
                # Outputs of two directions at a masked step have nothing in common but zero.
                each.zero_output_for_mask = each.return_sequences
        if weights:
            half = len(weights) // 2
            forward._initial_weights, backward._initial_weights = weights[:half], weights[half:]

    # ---- shapes and masks ----

    def compute_output_shape(self, input_shape: Any) -> Any:
        # A layer may give shapes as lists or tuples.
        shapes = nest.flatten(as_shapes(self.forward_layer.compute_output_shape(input_shape)))
        output, states = shapes[0].as_list(), shapes[1:]
        if self.merge_mode == "concat":
            output = [*output[:-1], None if output[-1] is None else 2 * output[-1]]
        outputs = [TensorShape(output)] * (1 if self.merge_mode else 2)
        made = outputs + states + states
        return made[0] if len(made) == 1 else made

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        mask = nest.flatten(mask)[0] if self.return_sequences else None
        masks = [mask] if self.merge_mode else [mask, mask]
        if self.return_state:
            return masks + [None for _ in self.forward_layer.states] * 2
        return masks[0] if self.merge_mode else masks

    # ---- calls ----

    def build(self, input_shape: Any) -> None:
        for layer in (self.forward_layer, self.backward_layer):
            with name_scope(layer.name):
                layer.build(input_shape)
                layer.built = True
        self.built = True

    def __call__(
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        inputs, initial_state, constants = separated(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more = [*(initial_state or []), *(constants or [])]
        specs = self._keep_specs(initial_state, constants)
        if not made_by_keras(more, " of a Bidirectional layer"):
            given = {"initial_state": initial_state, "constants": constants}
            return super().__call__(inputs, **given, **kwargs)
        before = self.input_spec
        self.input_spec = [None for _ in nest.flatten(inputs)] + specs
        output = super().__call__([inputs, *more], **kwargs)
        self.input_spec = before
        return output

    def _keep_specs(self, initial_state: Any, constants: Any) -> list[Any]:
        """Tells both layers what will come; the first half of the states is the forward one's."""
        both = (self.forward_layer, self.backward_layer)
        state_specs, constant_specs = specs_of(initial_state or []), specs_of(constants or [])
        if state_specs:
            if len(state_specs) % 2:
                raise ValueError(
                    "When passing `initial_state` to a Bidirectional RNN, the state should be a "
                    f"list containing the states of the underlying RNNs. Found: {initial_state}"
                )
            for layer, specs in zip(both, _halves(state_specs), strict=True):
                layer.state_spec = specs
        if constants is not None:
            self._num_constants = len(constants)
            for layer in both:
                layer.constants_spec, layer._num_constants = constant_specs, len(constants)
        return state_specs + constant_specs

    def call(
        self,
        inputs: Any,
        training: Any = None,
        mask: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        if isinstance(inputs, list):
            inputs, initial_state, found = separated(inputs, None, None, self._num_constants)
            constants = found or constants
        given = {"training": training, "mask": nest.flatten(mask)[0]}
        if constants:
            given["constants"] = constants
        halves: Any = _halves(initial_state) if initial_state else (None, None)
        both = zip((self.forward_layer, self.backward_layer), halves, strict=True)
        forward, backward = (self._called_one(*each, inputs, given) for each in both)
        states: list[Any] = []
        if self.return_state:
            states = forward[1:] + backward[1:]
            forward, backward = forward[0], backward[0]
        if self.return_sequences:
            time_axis = 0 if getattr(self.forward_layer, "time_major", False) else 1
            backward = array_reverse.reverse(backward, [time_axis])
        output = _MERGED[self.merge_mode](forward, backward)
        if not self.return_state:
            return output
        return (output if isinstance(output, list) else [output]) + states

    def _called_one(self, layer: Any, state: Any, inputs: Any, given: dict[str, Any]) -> Any:
        kwargs = {key: value for key, value in given.items() if has_arg(layer.call, key)}
        if state is not None and has_arg(layer.call, "initial_state"):
            kwargs["initial_state"] = state
        return layer(inputs, **kwargs)

    def reset_states(self) -> None:
        """Both layers start from zeros again."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    @property
    def constraints(self) -> dict[Any, Any]:
        return {
            **getattr(self.forward_layer, "constraints", {}),
            **getattr(self.backward_layer, "constraints", {}),
        }

    # ---- configurations ----

    def get_config(self) -> dict[str, Any]:
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if hasattr(self, "_backward_layer_config"):
            config["backward_layer"] = self._backward_layer_config
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        num_constants = config.pop("num_constants", 0)
        for key in ("layer", "backward_layer"):
            if config.get(key) is not None:
                config[key] = deserialize(config[key], custom_objects)
        made = cls(**config)
        made._num_constants = num_constants
        return made


def _halves(both: list[Any]) -> tuple[list[Any], list[Any]]:
    return both[: len(both) // 2], both[len(both) // 2 :]


def _again(layer: Any, other_way: bool = False) -> Any:
    """A new layer like `layer`, its cells' classes known by name."""
    config = layer.get_config()
    if other_way:
        config["go_backwards"] = not config["go_backwards"]
    if not has_arg(type(layer).from_config, "custom_objects"):
        return type(layer).from_config(config)
    cell = getattr(layer, "cell", None)
    cells = [] if cell is None else [cell, *getattr(cell, "cells", [])]
    known = {type(each).__name__: type(each) for each in cells}
    return type(layer).from_config(config, custom_objects=known)


def _check_pair(forward: Any, backward: Any) -> None:
    if forward.go_backwards == backward.go_backwards:
        raise ValueError(
            "Forward layer and backward layer should have different `go_backwards` value."
        )
    for name in ("stateful", "return_sequences", "return_state"):
        ahead, back = getattr(forward, name), getattr(backward, name)
        if ahead != back:
            raise ValueError(
                "Forward layer and backward layer are expected to have the same value for "
                f"attribute {name}, got {ahead} and {back}"
            )
