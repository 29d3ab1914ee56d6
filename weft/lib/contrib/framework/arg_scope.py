"""Default arguments for many calls at once: `with arg_scope([conv2d], padding="SAME"): ...`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

Scope = dict[str, dict[str, Any]]

_scopes: list[Scope] = [{}]
# Key of a decorated function -> its arguments that have a default.
_decorated: dict[str, tuple[str, ...]] = {}


def current_arg_scope() -> Scope:
    """Key of function -> default arguments, where the program is now."""
    return _scopes[-1]


def arg_scope_func_key(op: Any) -> str:
    """The key by which `arg_scope` knows a function: its own, through decorators."""
    return getattr(op, "_key_op", str(op))


def has_arg_scope(func: Any) -> bool:
    """Whether `arg_scope` can set default arguments of a function."""
    return arg_scope_func_key(func) in _decorated


def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The arguments of `func` that a scope can set."""
    assert has_arg_scope(func)
    return _decorated[arg_scope_func_key(func)]


@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Sets default arguments of decorated functions, or opens again a scope got by `as`.

    Args:
        list_ops_or_scope: functions, or a scope.
        **kwargs: the new defaults.

    Returns:
        A context manager.

    Raises:
        ValueError: a function takes no part in this, or a scope comes with new defaults.

    Example:
        >>> slim = tf.contrib.slim
        >>> with slim.arg_scope([slim.fully_connected], activation_fn=None):
        ...     y = slim.fully_connected(tf.ones([1, 2]), 3)
        >>> y.op.type
        'BiasAdd'
    """
    scope = _opened(list_ops_or_scope, kwargs)
    _scopes.append(scope)
    try:
        yield scope
    finally:
        _scopes.pop()


def scope_of(*settings: tuple[Any, dict[str, Any]]) -> Scope:
    """The scope with all these defaults, each of them for some functions, to be opened later."""
    with ExitStack() as opened:
        for functions, defaults in settings:
            opened.enter_context(arg_scope(functions, **defaults))
        return current_arg_scope()


def _opened(list_ops_or_scope: Any, kwargs: dict[str, Any]) -> Scope:
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling adictionary, kwargs must be empty."
            )
        return list_ops_or_scope.copy()
    if not isinstance(list_ops_or_scope, (list, tuple)):
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    scope = current_arg_scope().copy()
    for op in list_ops_or_scope:
        key = arg_scope_func_key(op)
        if not has_arg_scope(op):
            raise ValueError(
                "%s is not decorated with @add_arg_scope", (op.__module__, op.__name__)
            )
        scope[key] = {**scope.get(key, {}), **kwargs}
    return scope


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function whose defaults `arg_scope` may set."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def with_scope(*args: Any, **kwargs: Any) -> Any:
        defaults = current_arg_scope().get(key)
        return func(*args, **({**defaults, **kwargs} if defaults else kwargs))

    parameters = inspect.signature(func).parameters.values()
    _decorated[key] = tuple(p.name for p in parameters if p.default is not p.empty)
    with_scope._key_op = key  # type: ignore[attr-defined]
    return with_scope
