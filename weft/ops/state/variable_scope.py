"""Variable scopes: names and defaults for what `get_variable` makes, and when it is shared.

This module opens them; what they hold is in `get_variable.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from weft.graph.graph import get_default_graph, graph_of, name_scope
from weft.ops.state.get_variable import (  # noqa: F401  (public from here too)
    VariableScope,
    _get_default_variable_store,
    get_local_variable,
    get_variable,
    get_variable_scope,
    get_variable_scope_store,
    given_or,
)
from weft.ops.state.variable_creators import variable_creator_scope
from weft.ops.state.variable_store import (
    AUTO_REUSE,
    disable_resource_variables,
    enable_resource_variables,
    resource_variables_enabled,
)

__all__ = [
    "AUTO_REUSE",
    "VariableScope",
    "disable_resource_variables",
    "enable_resource_variables",
    "get_local_variable",
    "get_variable",
    "get_variable_scope",
    "no_regularizer",
    "resource_variables_enabled",
    "variable_creator_scope",
    "variable_op_scope",
    "variable_scope",
]


def no_regularizer(_: Any) -> None:
    """A regularizer that adds no loss, to switch off the one an outer scope sets."""


class PureVariableScope:
    """Opens a variable scope without touching name scopes; may be entered again after leaving."""

    def __init__(
        self,
        name_or_scope: str | VariableScope,
        reuse: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        old_name_scope: str | None = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self._name_or_scope, self._reuse = name_or_scope, reuse
        self._custom_getter, self._constraint = custom_getter, constraint
        self._old_name_scope = old_name_scope
        self._given = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "dtype": dtype,
            "use_resource": use_resource,
        }
        self._store = get_variable_scope_store()
        self._reopened: VariableScope | None = None
        if isinstance(name_or_scope, VariableScope):
            self._reopened = self._derive(
                name_or_scope,
                name_or_scope.name,
                name_or_scope._name_scope,
                self._reuse or name_or_scope.reuse,
            )

    def _derive(self, base: VariableScope, name: str, name_scope: str, reuse: Any) -> VariableScope:
        """A scope with the defaults of `base`, except for those given here."""
        settings = {key: given_or(value, getattr(base, key)) for key, value in self._given.items()}
        getter = base.custom_getter
        if self._custom_getter is not None:
            getter = _chain_getters(self._custom_getter, getter)
        return VariableScope(
            reuse,
            name=name,
            name_scope=name_scope,
            custom_getter=getter,
            constraint=self._constraint,
            **settings,
        )

    def __enter__(self) -> VariableScope:
        store = self._store
        self._old = store.current_scope
        if self._reopened is not None:
            self._opened = self._reopened
            store.open_variable_scope(self._opened.name)
            # Unique names handed out inside a reopened scope are forgotten when it closes.
            self._old_counts = dict(store.variable_scopes_count)
        else:
            given = str(self._name_or_scope)
            name = f"{self._old.name}/{given}" if self._old.name else given
            self._reuse = self._reuse or self._old.reuse
            self._opened = self._derive(
                self._old, name, given_or(self._old_name_scope, given), self._reuse
            )
            store.open_variable_scope(name)
        store.current_scope = self._opened
        return self._opened

    def check_innermost(self) -> None:
        if self._store.current_scope is not self._opened:
            raise RuntimeError("Improper nesting of variable_scope.")

    def __exit__(self, *exc: Any) -> None:
        self.check_innermost()
        store = self._store
        if self._reopened is not None:
            store.variable_scopes_count = self._old_counts
        else:
            store.close_variable_subscopes(self._opened.name)
        store.current_scope = self._old


def _chain_getters(inner: Callable[..., Any], outer: Callable[..., Any] | None) -> Any:
    """`inner`, whose true getter is the custom getter of the scope around it."""
    if outer is None:
        return inner

    def chained(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return chained


def _get_unique_variable_scope(prefix: str) -> str:
    store = get_variable_scope_store()
    current = store.current_scope.name
    name = f"{current}/{prefix}" if current else prefix
    if store.variable_scope_count(name) == 0:
        return prefix
    number = 1
    while store.variable_scope_count(f"{name}_{number}") > 0:
        number += 1
    return f"{prefix}_{number}"


class variable_scope:
    """Opens a variable scope, and with it a name scope, for the variables and ops of a model part.

    `name_or_scope` is the name of a new scope, or a `VariableScope` to reopen. Without it,
    `default_name` is made unique and used. `reuse=True` shares existing variables,
    `tf.AUTO_REUSE` makes missing ones.

    Args:
        name_or_scope: a name, a `VariableScope` to open again, or None to use `default_name`.
        default_name: a name that gets a number where it is taken already.
        values: tensors; the scope is opened in their graph.
        initializer, regularizer, caching_device, partitioner, custom_getter, constraint: defaults
            for the `get_variable` calls inside.
        reuse: True, `tf.AUTO_REUSE`, or None to do as the scope around it.
        dtype: the type of variables inside, unless they say otherwise.
        use_resource: whether variables inside are resource variables.
        auxiliary_name_scope: False opens no name scope.

    Raises:
        ValueError: there is neither a scope nor a default name, or `reuse` goes without a scope.
        TypeError: an argument is of the wrong kind.

    Example:
        >>> with tf.variable_scope("net"):
        ...     w = tf.get_variable("w", [2])
        >>> with tf.variable_scope("net", reuse=True):
        ...     same = tf.get_variable("w")
        >>> w is same, w.name
        (True, 'net/w:0')
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse is False:
            reuse = None  # an inner scope cannot stop the reuse of an outer one
        if reuse not in (True, None, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._name_or_scope, self._default_name, self._reuse = name_or_scope, default_name, reuse
        self._auxiliary_name_scope = auxiliary_name_scope
        self._graph = graph_of(values or [])
        self._settings = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._pure: PureVariableScope | None = None
        self._name_scope: Any = None
        self._exits: list[ExitStack] = []

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            stack.enter_context(self._graph.as_default())
            if self._pure is None:
                opened = self._open(stack)
            else:
                if self._name_scope is not None:
                    stack.enter_context(name_scope(self._name_scope))
                opened = stack.enter_context(self._pure)
            self._exits.append(stack.pop_all())
        return opened

    def __exit__(self, *exc: Any) -> None:
        assert self._pure is not None
        self._pure.check_innermost()
        self._exits.pop().__exit__(*exc)

    def _open(self, stack: ExitStack) -> VariableScope:
        """Enters the scope for the first time: makes its names."""
        given = self._name_or_scope
        if given is not None and not isinstance(given, (VariableScope, str)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if given is None:
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            opened_names = self._enter_name_scope(stack, str(self._default_name))
            scope: Any = _get_unique_variable_scope(str(self._default_name))
        else:
            scope = given
            last = given if isinstance(given, str) else given.name.split("/")[-1]
            opened_names = self._enter_name_scope(stack, last)
            if isinstance(given, VariableScope) and opened_names is not None:
                opened_names = given.original_name_scope
        self._pure = PureVariableScope(
            scope, reuse=self._reuse, old_name_scope=opened_names, **self._settings
        )
        return stack.enter_context(self._pure)

    def _enter_name_scope(self, stack: ExitStack, name: str) -> str | None:
        if not self._auxiliary_name_scope:
            current = get_default_graph().get_name_scope()
            name = current + "/" if current else current
        elif not name:
            return None
        entered = stack.enter_context(name_scope(name))
        self._name_scope = name if self._auxiliary_name_scope else entered
        return entered


@contextmanager
def variable_op_scope(
    values: Any,
    name_or_scope: Any,
    default_name: str | None = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: bool | None = None,
    constraint: Any = None,
) -> Iterator[VariableScope]:
    """Deprecated spelling of `variable_scope(name_or_scope, default_name, values)`."""
    with variable_scope(**locals()) as scope:
        yield scope
