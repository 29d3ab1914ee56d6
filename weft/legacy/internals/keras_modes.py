"""Names of `tensorflow.python.keras.keras_parameterized`: one test, for every way a model runs."""

from __future__ import annotations

import contextlib
import functools
import itertools
import unittest
from collections.abc import Callable, Iterable, Iterator
from threading import local
from typing import Any

from absl.testing import parameterized

import weft as tf
from weft.legacy.internals import tf2
from weft.lib.contrib.eager.modes import eager_mode, graph_mode

Test = Callable[..., Any]


class _Setting(local):
    """What a test asks of its models, by thread: set in a `with`, and unknown outside of it."""

    def __init__(self, asked_by: str, scope: str, decorator: str) -> None:
        self.value: Any = None
        self.message = (
            f"Cannot call `{asked_by}()` outside of a `{scope}()` or `{decorator}` decorator."
        )

    @contextlib.contextmanager
    def scope(self, value: Any) -> Iterator[Any]:
        before, self.value = self.value, value
        try:
            yield value
        finally:
            self.value = before

    def get(self) -> Any:
        if self.value is None:
            raise ValueError(self.message)
        return self.value


_model_type = _Setting("get_model_type", "model_type_scope", "run_with_all_model_types")
_eagerly = _Setting("should_run_eagerly", "run_eagerly_scope", "run_all_keras_modes")
_as_function = _Setting(
    "should_run_tf_function", "experimental_run_tf_function_scope", "run_all_keras_modes"
)

model_type_scope = _model_type.scope
run_eagerly_scope = _eagerly.scope
experimental_run_tf_function_scope = _as_function.scope
get_model_type = _model_type.get

# How a test is run: whether in eager execution, and what its models are told then.
_MODES = {
    "v2_function": (True, False, True),
    "v2_funcgraph": (True, False, False),
    "v2_eager": (True, True, True),
    "v1_session": (False, False, False),
}
_MODEL_TYPES = "functional", "subclass", "sequential"


def should_run_eagerly() -> bool:
    return bool(_eagerly.get() and tf.executing_eagerly())


def should_run_tf_function() -> bool:
    return bool(_as_function.get() and tf.executing_eagerly())


def is_eagerly_set() -> bool:
    """Whether a test has said how its models run."""
    return _eagerly.value is not None


class TestCase(tf.test.TestCase, parameterized.TestCase):  # type: ignore[misc]
    """A test with parameters that leaves no graph of Keras behind."""

    def tearDown(self) -> None:
        tf.keras.backend.clear_session()
        super().tearDown()


def run_with_all_model_types(test_or_class: Any = None, exclude_models: Any = None) -> Any:
    """Runs a test, or each of a class, for functional, subclassed and sequential models."""
    left_out = tf.nest.flatten(exclude_models)
    chosen = [kind for kind in _MODEL_TYPES if kind not in left_out]
    return _decorated(test_or_class, chosen, lambda kind, test: _model_type.scope(kind))


def run_all_keras_modes(
    test_or_class: Any = None,
    config: Any = None,
    always_skip_v1: bool = False,
    always_skip_eager: bool = False,
) -> Any:
    """Runs a test, or each of a class, eagerly, as functions, and as a graph of a session."""
    left_out = {"v2_eager"} if always_skip_eager else set()
    if always_skip_v1 or tf2.enabled():
        left_out.add("v1_session")
    chosen = [mode for mode in _MODES if mode not in left_out]
    return _decorated(test_or_class, chosen, functools.partial(_mode, config))


@contextlib.contextmanager
def _mode(config: Any, name: str, test: Any) -> Iterator[None]:
    """The surroundings of a test in a mode."""
    eager, eagerly, as_function = _MODES[name]
    with contextlib.ExitStack() as stack:
        stack.enter_context(eager_mode() if eager else graph_mode())
        stack.enter_context(_eagerly.scope(eagerly))
        stack.enter_context(_as_function.scope(as_function))
        if not eager:
            stack.enter_context(test.test_session(use_gpu=True, config=config))
        yield


def _decorated(subject: Any, names: list[str], surroundings: Callable[[str, Any], Any]) -> Any:
    """A test (or a class of them, or tests that have parameters), once for each of the names."""

    def each(test: Test) -> Any:
        @parameterized.named_parameters(*((f"_{name}", name) for name in names))
        @functools.wraps(test)
        def run(self: Any, name: str, *args: Any, **kwargs: Any) -> None:
            with surroundings(name, self):
                test(self, *args, **kwargs)

        return run

    def decorate(subject: Any) -> Any:
        if isinstance(subject, Iterable):
            return itertools.chain.from_iterable(map(each, subject))
        return _of_class(subject, each) if isinstance(subject, type) else each(subject)

    return decorate if subject is None else decorate(subject)


def _of_class(cls: type, each: Callable[[Test], Any]) -> type:
    """The class made once more, so that its metaclass takes the tests apart by parameters."""
    members = {
        name: each(value)
        if callable(value) and name.startswith(unittest.TestLoader.testMethodPrefix)
        else value
        for name, value in vars(cls).items()
    }
    for made_by_python in ("__dict__", "__weakref__"):
        members.pop(made_by_python, None)
    return type(cls)(cls.__name__, cls.__bases__, members)
