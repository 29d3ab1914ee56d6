"""What AutoGraph cannot do, and how errors in converted functions are told."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import pytest

import weft as tf


def undefined_in_one_branch(x):
    if x > 0:
        y = 1
    return y


def undefined_before_loop(x):
    for _ in tf.range(x):
        y = x
    return y


def never_defined(x):
    if False:
        y = x
    return y


def item_of_one_branch(x):
    table = collections.defaultdict(int)
    if x > 0:
        table["a"] = x
    return table["a"]


def attribute_of_one_branch(x):
    if x > 0:
        x.mine = x + 1
    return x.mine


def types_differ(x):
    if x > 0:
        y = 1.0
    else:
        y = 1
    return y


def types_change(x):
    y = 0
    while y < x:
        y = tf.constant(2.0)
    return y


def shapes_change(x):
    y = tf.ones([1])
    for _ in tf.range(x):
        y = tf.concat([y, y], 0)
    return y


def structures_differ(x):
    y = (x, x)
    if x > 0:
        y = x
    return y


def structures_change(x):
    y = x
    while x > 0:
        y = (x, x)
        x -= 1
    return y


def returned_from_one_branch(x):
    if x > 0:
        return x


def tensors_of_branches_leak(x):
    found = []
    if x > 0:
        found.append(x * 2)
    return found


def endless_python_loop(x):
    for i in itertools.count():
        if x > i:
            break
    return x


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (
            undefined_in_one_branch,
            ValueError,
            r"must also be initialized in the FALSE branch: \('y'",
        ),
        (undefined_before_loop, ValueError, r"must be defined before the loop: \('y',\)"),
        (never_defined, UnboundLocalError, "'y' is used before assignment"),
        (item_of_one_branch, ValueError, "must also be initialized in the FALSE branch: .*table"),
        (attribute_of_one_branch, ValueError, "initialized in the FALSE branch: .*'x.mine'"),
        (types_differ, TypeError, '"y" has dtype float32 in the TRUE branch, but dtype=int32'),
        (types_change, TypeError, '"y" has dtype int32 before the loop, but dtype float32 after'),
        (shapes_change, ValueError, r'"y" has shape \(1,\) before the loop, but shape \(2,\)'),
        (structures_differ, TypeError, '"y" does not have the same nested structure in the TRUE'),
        (structures_change, TypeError, '"y" does not have the same nested structure after one'),
        (returned_from_one_branch, ValueError, "A value must also be returned from the FALSE"),
        (tensors_of_branches_leak, ValueError, "defined in another function or code block"),
        (endless_python_loop, NotImplementedError, "has too many turns"),
    ],
)
def test_what_tensors_cannot_do(function: Any, kind: type, message: str, monkeypatch) -> None:
    monkeypatch.setattr("weft.lib.autograph.loops._MOST_GUARDED", 5)
    with pytest.raises(kind, match=message):
        tf.function(function)(tf.constant(1))


def _fails(x):
    return tf.matmul(x, x)  # here


def _calls_it(x):
    if tf.reduce_sum(x) > 0:
        y = _fails(x)
    else:
        y = x
    return y


def test_errors_of_what_is_converted_by_hand() -> None:
    with pytest.raises(ValueError, match=r"^Shape must be rank 2 but is rank 1"):
        tf.autograph.to_graph(_fails)(tf.ones([2]))
    with pytest.raises(ValueError, match=r"^in converted code:"):
        tf.contrib.autograph.convert()(_fails)(tf.ones([2]))


def test_equal_functions_of_two_files(tmp_path) -> None:
    made = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.py"
        path.write_text("def f(x):\n    raise ValueError('mine')\n")
        made.append({})
        exec(compile(path.read_text(), str(path), "exec"), made[-1])
        with pytest.raises(ValueError, match=rf"{name}\.py:2 f  "):
            tf.function(made[-1]["f"])(tf.constant(1))


def test_other_errors_name_them_too() -> None:
    """Those of TensorFlow are made anew; one of a class we know nothing of gets a note."""

    class Own(Exception):
        def __init__(self, a, b):
            super().__init__(a, b)

    def missing(x):
        return {}["key"]  # asked

    def wrong(x):
        raise tf.errors.NotFoundError(None, None, "not there")

    def own(x):
        def inner():
            raise Own(1, 2)

        return inner()

    where = "in converted code:\n\n    .*test_errors.py:[0-9]+ "
    with pytest.raises(KeyError, match=where + "missing  .\n        return .*asked") as caught:
        tf.function(missing)(tf.constant(1))
    assert caught.value.args == ("key",)
    with pytest.raises(tf.errors.NotFoundError, match=where + r"wrong  [^\0]*: not there"):
        tf.function(wrong)(tf.constant(1))
    with pytest.raises(Own) as caught:
        tf.function(own)(tf.constant(1))
    assert caught.value.args == (1, 2) and " own  *\n" in caught.value.__notes__[0]
    assert " inner  *\n" in caught.value.__notes__[0]


def test_errors_name_the_users_lines() -> None:
    with pytest.raises(ValueError, match="rank 2 but is rank 1") as caught:
        tf.function(_calls_it)(tf.ones([2]))
    text = str(caught.value)
    assert text.startswith("in converted code:\n")
    first = _fails.__code__.co_firstlineno
    assert f"test_errors.py:{first + 1} _fails  *\n        return tf.matmul(x, x)  # here" in text
    assert f"test_errors.py:{first + 6} _calls_it  *\n        y = _fails(x)" in text
    assert text.count("_calls_it") == 1  # not the `if` as well
    assert "weft/" not in text


def test_operations_know_the_users_lines() -> None:
    graph = tf.function(_calls_it).get_concrete_function(tf.TensorSpec([2, 2], tf.float32)).graph
    line = _calls_it.__code__.co_firstlineno + 1
    found = [op for op in graph.get_operations() if op.type == "Sum"]
    assert any(frame[1] == line for frame in found[0].traceback)
