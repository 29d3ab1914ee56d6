"""An LSTM of images: its products are convolutions."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.lib.keras import backend as K
from weft.lib.keras import regularizers
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.input_spec import InputSpec
from weft.lib.keras.engine.network_shapes import as_shapes
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.recurrent import RNN
from weft.lib.keras.layers.rnn_cells import seen_by_gates
from weft.lib.keras.layers.rnn_dropout import DropoutRNNCellMixin
from weft.lib.keras.layers.rnn_options import (
    CONSTRAINTS,
    DROPOUTS,
    INITIALIZERS,
    REGULARIZERS,
    add_lstm_bias,
    delegate,
    keep,
    picked,
    step_of_lstm,
)
from weft.lib.keras.layers.rnn_states import size_list
from weft.lib.keras.layers.settings import record, weight, with_activity
from weft.ops.array import fill as array_fill
from weft.ops.array import split as array_split

_OPTIONS = (
    "filters kernel_size strides padding data_format dilation_rate activation "
    f"recurrent_activation use_bias {INITIALIZERS} unit_forget_bias {REGULARIZERS} {CONSTRAINTS} "
    f"{DROPOUTS}"
)


class ConvRNN2D(RNN):
    """A convolutional cell applied to [batch, time, ...] of images."""

    _counts_steps = True

    @with_parameters_of(RNN.__init__, without=("time_major",))
    def __init__(self, **arguments: Any) -> None:
        match arguments:
            case {"unroll": unroll} if unroll:
                raise TypeError("Unrolling isn't possible with convolutional RNNs.")
            case {"cell": list() | tuple()}:
                raise TypeError("It is not possible at the moment tostack convolutional cells.")
        super().__init__(**arguments)
        self.input_spec = [InputSpec(ndim=5)]

    def _state_dims(self, input_shape: Any) -> tuple[Any, Any]:
        """(number of steps, shape of a state) for images of this shape."""
        shape, cell = TensorShape(input_shape).as_list(), self.cell
        image = [shape[0], *shape[2:]]
        sides = windows.spatial(image, cell.data_format)
        space = [
            windows.output_length(
                sides[i], cell.kernel_size[i], cell.padding, cell.strides[i], cell.dilation_rate[i]
            )
            for i in range(2)
        ]
        return shape[1], windows.joined(shape[0], space, cell.filters, cell.data_format)

    def compute_output_shape(self, input_shape: Any) -> Any:
        shapes = as_shapes(input_shape)
        steps, state = self._state_dims(shapes[0] if isinstance(shapes, list) else shapes)
        output = TensorShape([state[0], steps, *state[1:]] if self.return_sequences else state)
        if not self.return_state:
            return output
        return [output, *(TensorShape(state) for _ in size_list(self.cell.state_size))]

    def _spec_of(self, shape: TensorShape) -> InputSpec:
        dims = shape.as_list()
        return InputSpec(shape=(dims[0] if self.stateful else None, None, *dims[2:5]))

    def _check_or_make_state_specs(self) -> None:
        """As other layers do, but sizes are numbers of channels."""
        sizes, data_format = size_list(self.cell.state_size), self.cell.data_format
        axis = windows.channel_axis(data_format)
        if self.state_spec is None:
            self.state_spec = [
                InputSpec(shape=tuple(windows.joined(None, [None, None], size, data_format)))
                for size in sizes
            ]
        elif [spec.shape[axis] for spec in self.state_spec] != sizes:
            raise ValueError(
                "An initial_state was passed that is not compatible with `cell.state_size`. "
                f"Received `state_spec`={[spec.shape for spec in self.state_spec]}; However "
                f"`cell.state_size` is {self.cell.state_size}"
            )

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Zeros as large as what the convolution gives for a step."""
        image = K.sum(array_fill.zeros_like(inputs), axis=1)
        shape = (*self.cell.kernel_shape[:-1], self.cell.filters)
        kernel = array_fill.zeros(shape, dtype=inputs.dtype)
        state = self.cell.input_conv(image, kernel, padding=self.cell.padding)
        return [state for _ in size_list(self.cell.state_size)]

    def _state_shapes(self) -> list[TensorShape]:
        _, state = self._state_dims(self.input_spec[0].shape)
        if None in state:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: \n"
                "- If using a Sequential model, specify the batch size by passing a "
                "`batch_input_shape` argument to your first layer.\n"
                "- If using the functional API, specify the time dimension by passing a "
                "`batch_shape` argument to your Input layer.\n"
                "The same thing goes for the number of rows and columns."
            )
        return [TensorShape(state) for _ in size_list(self.cell.state_size)]


class ConvLSTM2DCell(DropoutRNNCellMixin, Layer):
    """One step of `ConvLSTM2D`."""

    OPTIONS = _OPTIONS

    activation: Any
    recurrent_activation: Any
    filters: int
    use_bias: bool
    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]
    dilation_rate: tuple[int, ...]
    padding: Any
    data_format: str

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        options = picked(locals(), self.OPTIONS)
        super().__init__(**kwargs)
        keep(self, options)
        sizes = picked(options, "kernel_size strides dilation_rate")
        windows.take(self, 2, padding, data_format, **sizes)
        self.state_size = (self.filters, self.filters)

    def build(self, input_shape: Any) -> None:
        channels = windows.known_channels(TensorShape(input_shape), self.data_format)
        self.kernel_shape = (*self.kernel_size, channels, self.filters * 4)
        self.kernel = weight(self, "kernel", self.kernel_shape)
        self.recurrent_kernel = weight(
            self,
            "recurrent_kernel",
            (*self.kernel_size, self.filters, self.filters * 4),
            settings="recurrent",
        )
        self.bias = add_lstm_bias(self, self.filters) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        output, memory = states
        masks, state_masks = self._gate_masks(inputs, output, training, 4)
        inputs, output = seen_by_gates(inputs, masks, 4), seen_by_gates(output, state_masks, 4)
        kernels, state_kernels = (
            array_split.split(each, 4, axis=3) for each in (self.kernel, self.recurrent_kernel)
        )
        biases = array_split.split(self.bias, 4) if self.use_bias else [None] * 4
        x = [
            self.input_conv(*each, padding=self.padding)
            for each in zip(inputs, kernels, biases, strict=True)
        ]
        inner = [self.recurrent_conv(*each) for each in zip(output, state_kernels, strict=True)]
        activations = (self.recurrent_activation, self.activation)
        return step_of_lstm(lambda gate: x[gate] + inner[gate], memory, *activations)

    def input_conv(self, x: Any, w: Any, b: Any = None, padding: str = "valid") -> Any:
        """The contribution of the inputs."""
        order = self.data_format
        made = K.conv2d(x, w, self.strides, padding, order, self.dilation_rate)
        return made if b is None else K.bias_add(made, b, order)

    def recurrent_conv(self, x: Any, w: Any) -> Any:
        """The contribution of the last output; it keeps its size."""
        return K.conv2d(x, w, strides=(1, 1), padding="same", data_format=self.data_format)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, self.OPTIONS)}


class ConvLSTM2D(ConvRNN2D):
    """An LSTM whose inputs, states and outputs are images."""

    @with_parameters_of(
        ConvLSTM2DCell.__init__,
        extra={
            "activity_regularizer": ("bias_regularizer", None),
            "return_sequences": ("bias_constraint", False),
            "go_backwards": ("return_sequences", False),
            "stateful": ("go_backwards", False),
        },
    )
    def __init__(self, **arguments: Any) -> None:
        options = {name: arguments.pop(name) for name in _OPTIONS.split()}
        regularizer = arguments.pop("activity_regularizer")
        super().__init__(ConvLSTM2DCell(**options, dtype=arguments.get("dtype")), **arguments)
        self.activity_regularizer = regularizers.get(regularizer)

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None
    ) -> Any:
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    def _cell_config(self) -> dict[str, Any]:
        return record(self, with_activity(_OPTIONS))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


delegate(ConvLSTM2D, _OPTIONS)
