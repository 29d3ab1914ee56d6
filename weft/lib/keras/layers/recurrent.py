"""The layer that applies a recurrent cell to sequences."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape, as_shape
from weft.lib.keras.backend.rnn import rnn
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.input_spec import InputSpec
from weft.lib.keras.engine.network_shapes import as_shapes
from weft.lib.keras.layers.rnn_arguments import made_by_keras, separated, specs_of
from weft.lib.keras.layers.rnn_dropout import reset_masks
from weft.lib.keras.layers.rnn_kept_states import KeptStates
from weft.lib.keras.layers.rnn_states import (
    build_cell,
    check_state_specs,
    output_size_of,
    size_list,
    zero_state,
)
from weft.lib.keras.layers.serialization import deserialize, serialize
from weft.lib.keras.layers.settings import name_input_shape, record
from weft.lib.keras.layers.stacked_cells import StackedRNNCells
from weft.lib.keras.utils.generic import entry, has_arg
from weft.ops.array import shape as array_shape


def _checked_cell(cell: Any) -> Any:
    """The cell that one, or several in a list, make; with what the layer needs of it."""
    cell = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
    if not hasattr(cell, "call"):
        raise ValueError("`cell` should have a `call` method. The RNN was passed:", cell)
    if hasattr(cell, "state_size"):
        return cell
    raise ValueError(
        "The RNN cell should have an attribute `state_size` "
        "(tuple of integers, one integer per RNN state)."
    )


class RNN(KeptStates, Layer):
    """A cell applied along the time axis of [batch, time, ...], or of [time, batch, ...].

    Gives the last output, or those of all steps (`return_sequences`), and with `return_state`
    the last states too. A `stateful` layer goes on in each batch where the one before ended.
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ) -> None:
        cell = _checked_cell(cell)
        # What masked steps give: zeros, or the output of the step before.
        zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        name_input_shape(kwargs, "input_length", "input_dim")
        super().__init__(**kwargs)
        self.cell, self.unroll, self.zero_output_for_mask = cell, unroll, zero_output_for_mask
        self._keep_form(return_sequences, return_state, go_backwards, stateful, time_major)
        self.supports_masking = True

    def _keep_form(
        self,
        return_sequences: bool,
        return_state: bool,
        go_backwards: bool,
        stateful: bool,
        time_major: bool,
    ) -> None:
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.time_major = go_backwards, stateful, time_major
        self.input_spec: Any = None
        self.state_spec: Any = None
        self.constants_spec: Any = None
        self._num_constants: int | None = 0
        self.states = None

    # ---- shapes ----

    def compute_output_shape(self, input_shape: Any) -> Any:
        # Other inputs are as long as the first; states may follow them.
        batch, steps = nest.flatten(as_shapes(input_shape))[0].as_list()[:2]
        if self.time_major:
            batch, steps = steps, batch

        def output_shape(size: Any) -> TensorShape:
            rows = [batch]
            if self.return_sequences:
                rows = [steps, batch] if self.time_major else [batch, steps]
            return TensorShape(rows + as_shape(size).as_list())

        outputs = [output_shape(size) for size in nest.flatten(output_size_of(self.cell))]
        if self.return_state:
            return outputs + [
                TensorShape([batch, *as_shape(size).as_list()])
                for size in nest.flatten(self.cell.state_size)
            ]
        return outputs[0] if len(outputs) == 1 else outputs

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        mask = nest.flatten(mask)[0]
        output_mask = mask if self.return_sequences else None
        return [output_mask] + [None for _ in self.states] if self.return_state else output_mask

    # ---- building ----

    def build(self, input_shape: Any) -> None:
        shapes = as_shapes(input_shape)
        if isinstance(shapes, list):
            # Initial states and constants follow.
            shapes = shapes[0]
        spec = nest.map_structure(self._spec_of, shapes)
        if self.input_spec is not None:
            self.input_spec[0] = spec
        else:
            self.input_spec = list(spec) if isinstance(spec, (list, tuple)) else [spec]
        build_cell(self.cell, nest.map_structure(self._step_shape, shapes), self.dtype)
        self._check_or_make_state_specs()
        if self.stateful:
            self.reset_states()
        self.built = True

    def _check_or_make_state_specs(self) -> None:
        sizes = size_list(self.cell.state_size)
        if self.state_spec is None:
            shapes = ([None, *as_shape(size).as_list()] for size in sizes)
            self.state_spec = [InputSpec(shape=shape) for shape in shapes]
        else:
            check_state_specs(sizes, self.state_spec)

    def _spec_of(self, shape: TensorShape) -> InputSpec:
        """Any number of steps, and any batch unless there are states for it."""
        dims = shape.as_list()
        time_axis = 0 if self.time_major else 1
        for axis in (time_axis,) if self.stateful else (0, 1):
            dims[axis] = None
        return InputSpec(shape=tuple(dims))

    def _step_shape(self, shape: TensorShape) -> tuple[Any, ...]:
        dims = shape.as_list()
        return tuple(dims[1:] if self.time_major else [dims[0], *dims[2:]])

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """The initial state that the cell makes, or zeros."""
        first = nest.flatten(inputs)[0]
        batch_size = array_shape.shape(first)[1 if self.time_major else 0]
        make = getattr(self.cell, "get_initial_state", None)
        if make:
            made = make(inputs=None, batch_size=batch_size, dtype=first.dtype)
        else:
            made = zero_state(batch_size, self.cell.state_size, first.dtype)
        return list(made) if nest.is_nested(made) else [made]

    # ---- calls ----

    def __call__(
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        inputs, initial_state, constants = separated(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more: list[Any] = []
        specs: list[Any] = []
        if initial_state is not None:
            self.state_spec = specs_of(initial_state)
            more, specs = more + initial_state, specs + self.state_spec
        if constants is not None:
            self.constants_spec, self._num_constants = specs_of(constants), len(constants)
            more, specs = more + constants, specs + self.constants_spec
        if not made_by_keras(more, " or constants of an RNN layer"):
            given = {"initial_state": initial_state, "constants": constants}
            kwargs |= {key: value for key, value in given.items() if value is not None}
            return super().__call__(inputs, **kwargs)
        unknown = [None for _ in nest.flatten(inputs)] if nest.is_nested(inputs) else [None]
        self.input_spec = unknown + specs
        output = super().__call__([inputs, *more], **kwargs)
        # What `build` found out about the inputs stays.
        self.input_spec = self.input_spec[: -len(specs)]
        return output

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        reset_masks(self.cell)
        inputs, states, constants = self._process_inputs(inputs, initial_state, constants)
        if mask is not None:
            mask = nest.flatten(mask)[0]
        self._check_steps(inputs)
        last, outputs, states = rnn(
            self._step(training, bool(constants)),
            inputs,
            states,
            constants=constants,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            input_length=self._steps_at_most(inputs),
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            self._update_states(states)
        output = outputs if self.return_sequences else last
        if not self.return_state:
            return output
        return [*(output if isinstance(output, (list, tuple)) else [output]), *states]

    def _step(self, training: Any, with_constants: bool) -> Any:
        """The cell as a function of inputs, and of states that the constants follow."""
        cell, count = self.cell, self._num_constants or 0
        kwargs = {"training": training} if has_arg(cell.call, "training") else {}
        if with_constants and not has_arg(cell.call, "constants"):
            raise ValueError("RNN cell does not support constants")
        # The cells of tf.nn.rnn_cell take a single state as it is, not in a list.
        bare = getattr(cell, "_is_tf_rnn_cell", None) is not None

        def step(inputs: Any, states: Any) -> tuple[Any, Any]:
            if with_constants:
                states, kwargs["constants"] = states[:-count], states[-count:]
            states = states[0] if len(states) == 1 and bare else states
            output, new = cell.call(inputs, states, **kwargs)
            return output, new if nest.is_nested(new) else [new]

        return step

    # Whether the loop counts its steps, too, where it is known how many there will be.
    _counts_steps = False

    def _steps_at_most(self, inputs: Any) -> int | None:
        """A limit for the loop."""
        if not self._counts_steps:
            return None
        steps: int | None = nest.flatten(inputs)[0].shape.as_list()[0 if self.time_major else 1]
        return steps

    def _check_steps(self, inputs: Any) -> None:
        if not self.unroll:
            return
        if nest.flatten(inputs)[0].shape.as_list()[0 if self.time_major else 1] is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. \n"
                "- If using a Sequential model, specify the time dimension by passing an "
                "`input_shape` or `batch_input_shape` argument to your first layer. If your first "
                "layer is an Embedding, you can also use the `input_length` argument.\n"
                "- If using the functional API, specify the time dimension by passing a `shape` "
                "or `batch_shape` argument to your Input layer."
            )

    def _process_inputs(
        self, inputs: Any, initial_state: Any, constants: Any
    ) -> tuple[Any, Any, Any]:
        """Inputs, the states to start from, and constants."""
        if isinstance(inputs, list):
            inputs, initial_state, among = separated(inputs, None, None, self._num_constants)
            constants = among if self._num_constants else constants
        return inputs, self._first_states(inputs, initial_state), constants

    def _first_states(self, inputs: Any, given: Any) -> Any:
        """The states that were given or kept, or those of a sequence that begins."""
        if given is None:
            given = self.states if self.stateful else self.get_initial_state(inputs)
        if len(given) == len(self.states):
            return given
        raise ValueError(
            f"Layer has {len(self.states)} states but was passed {len(given)} initial states."
        )

    # ---- configurations ----

    def _form_config(self) -> dict[str, Any]:
        form = "return_sequences return_state go_backwards stateful unroll time_major"
        more = {
            "num_constants": self._num_constants,
            "zero_output_for_mask": self.zero_output_for_mask,
        }
        return record(self, form) | {key: value for key, value in more.items() if value}

    def _cell_config(self) -> dict[str, Any]:
        return {"cell": serialize(self.cell)}

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._form_config(), **self._cell_config()}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        cell = entry(config, "cell")
        own = {k: v for k, v in config.items() if k not in ("cell", "num_constants")}
        layer = cls(deserialize(cell, custom_objects), **own)
        layer._num_constants = config.get("num_constants", 0)
        return layer
