"""Datasets of arrays that are not written into the graph: they are fed into variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.graph import stacks
from weft.graph.graph import device as device_scope
from weft.lib.data.dataset import Dataset
from weft.ops.array import array
from weft.ops.array.placeholders import placeholder
from weft.ops.state.variables import Variable


class SingleDevice:
    """A place for variables that shall have one copy, whatever the strategy."""

    def __init__(self, device: str) -> None:
        self.device = device


def numpy_dataset(numpy_input: Any, session: Any, **where: Any) -> Any:
    """A dataset of the rows of `numpy_input`; the variables are initialized in the session."""
    arrays = nest.flatten(numpy_input)
    variables = tuple(_variable(np.asarray(each), session, where) for each in arrays)
    return Dataset.from_tensor_slices(nest.pack_sequence_as(numpy_input, variables))


def one_host_numpy_dataset(numpy_input: Any, host: SingleDevice, session: Any) -> Any:
    """Such a dataset on one device, inside of a strategy's scope."""
    from weft.ops.state.variable_creators import variable_creator_scope

    def create(next_creator: Any, **kwargs: Any) -> Any:
        return next_creator(**{**kwargs, "colocate_with": host})

    with variable_creator_scope(create), device_scope(host.device):
        return numpy_dataset(numpy_input, session)


def _variable(value: Any, session: Any, where: Any) -> Any:
    dtype = dtypes.as_dtype(value.dtype)
    given = placeholder(dtype, value.shape)
    variable = Variable(
        lambda: array.zeros(value.shape, dtype), trainable=False, use_resource=True, **where
    )
    session = session or stacks.get_default_session()
    if session is None:
        raise ValueError(
            "A session is needed to fill the dataset: pass it, or open it with"
            " `with session.as_default()`."
        )
    session.run(variable.initializer)
    session.run(variable.assign(given, read_value=False), {given: value})
    return variable
