"""The arguments of `train_and_evaluate` for training and for evaluation."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.lib.estimator.exporters import Exporter
from weft.lib.train.sessions.session_run_hook import SessionRunHook


def checked_hooks(hooks: Any) -> tuple[SessionRunHook, ...]:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


def _check_input_fn(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    """Exporters with names of their own."""
    if not exporters:
        return ()
    given = [exporters] if isinstance(exporters, Exporter) else exporters
    try:
        listed = list(given)
    except TypeError:
        listed = [None]
    if not all(isinstance(each, Exporter) for each in listed):
        raise TypeError(
            f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {given}."
        )
    names = [each.name for each in listed]
    for number, name in enumerate(names):
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter names: "
                f"{names}"
            )
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
        if name in names[:number]:
            raise ValueError(
                "`exporters` must have unique names. Such a name cannot be `None`. All exporter "
                f"names: {names}"
            )
    return tuple(listed)


class _TrainSpec(NamedTuple):
    input_fn: Any
    max_steps: int | None = None
    hooks: Any = None


class TrainSpec(_TrainSpec):
    """The input of a training, the step to stop at (None: the end of the input), and hooks.

    Args:
        input_fn: gives the features and labels to train with.
        max_steps: see above.
        hooks: session hooks.

    Raises:
        ValueError: `max_steps` is not positive.
        TypeError: something is of the wrong kind.

    Example:
        >>> tf.estimator.TrainSpec(lambda: None, max_steps=100).max_steps
        100
    """

    def __new__(cls, input_fn: Any, max_steps: int | None = None, hooks: Any = None) -> TrainSpec:
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, checked_hooks(hooks))


class _EvalSpec(NamedTuple):
    input_fn: Any
    steps: int | None = 100
    name: str | None = None
    hooks: Any = None
    exporters: Any = None
    start_delay_secs: float = 120
    throttle_secs: float = 600


class EvalSpec(_EvalSpec):
    """The input of evaluations, how long they are, how often they come, what they export.

    Args:
        input_fn: gives the features and labels to evaluate.
        steps: how many batches; None: to the end of the input.
        name: of the evaluation, where there are several.
        hooks: session hooks.
        exporters: export the model after evaluations.
        start_delay_secs: how long to wait before the first.
        throttle_secs: the least time between two.

    Raises:
        ValueError: a number is not positive.
        TypeError: something is of the wrong kind.

    Example:
        >>> tf.estimator.EvalSpec(lambda: None, steps=10).steps
        10
    """

    def __new__(
        cls,
        input_fn: Any,
        steps: int | None = 100,
        name: str | None = None,
        hooks: Any = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks, exporters = checked_hooks(hooks), _checked_exporters(exporters)
        for field, seconds in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if seconds < 0:
                raise ValueError(f"Must specify {field} >= 0, given: {seconds}")
        return super().__new__(
            cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs
        )
