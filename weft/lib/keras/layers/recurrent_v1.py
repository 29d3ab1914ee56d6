"""Layers of one kind of cell: the simple one, GRU and LSTM."""

from __future__ import annotations

from typing import Any

from weft.core.signatures import with_parameters_of
from weft.lib.keras import regularizers
from weft.lib.keras.engine.input_spec import InputSpec
from weft.lib.keras.layers.recurrent import RNN
from weft.lib.keras.layers.rnn_cells import GRUCell, LSTMCell, SimpleRNNCell, UnitCell
from weft.lib.keras.layers.rnn_options import delegate
from weft.lib.keras.layers.settings import record, with_activity
from weft.lib.platform import tf_logging as logging


def _more_after(last: str) -> dict[str, tuple[str, Any]]:
    """The arguments of layers besides their cells' options, and the argument that each follows."""
    form = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll")
    before = (last, *form)
    return {
        "activity_regularizer": ("bias_regularizer", None),
        **{name: (before[i], False) for i, name in enumerate(form)},
    }


class _CellLayer(RNN):
    """A layer that makes its cell, and has the cell's options as its own."""

    cell_class: type[UnitCell]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        delegate(cls, cls.cell_class.OPTIONS)

    def __init__(self, arguments: dict[str, Any]) -> None:
        options = {name: arguments.pop(name) for name in self.cell_class.OPTIONS.split()}
        if options.get("implementation") == 0:
            logging.warning(
                "`implementation=0` has been deprecated, and now defaults to `implementation=1`."
                "Please update your layer call."
            )
        make: Any = self.cell_class
        regularizer = arguments.pop("activity_regularizer")
        super().__init__(make(**options, dtype=arguments.get("dtype")), **arguments)
        self.activity_regularizer = regularizers.get(regularizer)
        self.input_spec = [InputSpec(ndim=3)]

    # Without `constants`, which these cells do not take.
    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None
    ) -> Any:
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    def _cell_config(self) -> dict[str, Any]:
        return record(self, with_activity(self.cell_class.OPTIONS))

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        given = dict(config)
        if given.get("implementation") == 0:
            given["implementation"] = 1
        return cls(**given)


class SimpleRNN(_CellLayer):
    """A recurrent layer whose output is fed back to it."""

    cell_class = SimpleRNNCell

    @with_parameters_of(SimpleRNNCell.__init__, extra=_more_after("recurrent_dropout"))
    def __init__(self, **arguments: Any) -> None:
        if "implementation" in arguments:
            arguments.pop("implementation")
            logging.warning(
                "The `implementation` argument in `SimpleRNN` has been deprecated. Please remove "
                "it from your layer call."
            )
        super().__init__(arguments)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**{key: value for key, value in config.items() if key != "implementation"})


class GRU(_CellLayer):
    """A layer of gated recurrent units."""

    cell_class = GRUCell

    @with_parameters_of(GRUCell.__init__, extra=_more_after("implementation"))
    def __init__(self, **arguments: Any) -> None:
        super().__init__(arguments)


class LSTM(_CellLayer):
    """A layer of long short-term memory."""

    cell_class = LSTMCell

    @with_parameters_of(LSTMCell.__init__, extra=_more_after("implementation"))
    def __init__(self, **arguments: Any) -> None:
        super().__init__(arguments)
