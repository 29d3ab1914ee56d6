"""Public functions take ragged tensors; what they do otherwise does not change."""

from __future__ import annotations

import inspect

import pytest

import weft as tf
from tests.ragged.programs import digits
from weft.lib.ragged import dispatched
from weft.lib.ragged.dispatch import also
from weft.ops.math import elementwise


def test_ordinary_calls_are_the_function_itself() -> None:
    assert inspect.signature(tf.add) == inspect.signature(elementwise.add)
    assert tf.add.__wrapped__ is elementwise.add
    assert tf.math.add is tf.add is dispatched.add
    assert tf.add(1, 2).op.name == "Add"
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.add([1, 2], [1, 2, 3])


def test_named_arguments() -> None:
    with tf.Session() as session:
        found = session.run([tf.add(x=digits(tf), y=1), tf.add(1, y=digits(tf)),
                             tf.cast(x=digits(tf), dtype=tf.float32, name="c")])  # fmt: skip
    assert found[0].to_list() == found[1].to_list()
    assert found[2].dtype == "float32"


def test_only_refused_ragged_arguments_are_looked_at() -> None:
    calls = []

    def function(x: object) -> object:
        if x == "no":
            raise TypeError("refused")
        return x

    either = also(function, lambda x: calls.append(x) or "ragged")
    assert either(digits) is digits
    with pytest.raises(TypeError, match="refused"):
        either("no")
    assert not calls
    assert tf.rank(digits(tf)) is not None
