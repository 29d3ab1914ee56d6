"""Public functions and classes are pickled by name, as `multiprocessing` sends them."""

from __future__ import annotations

import pickle
import types

import pytest

import weft as tf

SPACES = "image initializers keras.backend layers linalg losses math nn strings train".split()


@pytest.mark.parametrize("space", ["", *SPACES])
def test_public_functions_are_found_by_name(space: str) -> None:
    module = tf
    for part in filter(None, space.split(".")):
        module = getattr(module, part)
    values = [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    functions = [value for value in values if isinstance(value, types.FunctionType)]
    assert functions
    for function in functions:
        assert pickle.loads(pickle.dumps(function)) is function


def test_messages_are_pickled() -> None:
    for message in (tf.train.Example(), tf.ConfigProto(), tf.GraphDef(), tf.train.ServerDef()):
        assert type(pickle.loads(pickle.dumps(message))) is type(message)
