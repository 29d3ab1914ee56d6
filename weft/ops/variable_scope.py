"""Variable scopes: names and defaults for what `get_variable` makes, and when it is shared."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Graph,
    GraphKeys,
    get_collection,
    get_default_graph,
    graph_of,
    name_scope,
)
from weft.ops.ref_variable import RefVariable
from weft.ops.resource_variable import ResourceVariable
from weft.ops.variable_store import (
    AUTO_REUSE,
    Request,
    VariableStore,
    disable_resource_variables,
    enable_resource_variables,
    resource_variables_enabled,
)
from weft.ops.variables import Variable, VariableAggregation, VariableSynchronization

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

# Both live in the graph's collections, under keys that are not exported with it.
_STORE_KEY: Any = ("__variable_store",)
_SCOPES_KEY: Any = ("__varscope",)


def no_regularizer(_: Any) -> None:
    """A regularizer that adds no loss, to switch off the one an outer scope sets."""


class VariableScope:
    """The defaults that `get_variable` applies inside a `variable_scope`."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = dtypes.float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self._name, self._reuse = name, reuse
        self._initializer, self._regularizer = initializer, regularizer
        self._caching_device, self._partitioner = caching_device, partitioner
        self._custom_getter, self._constraint = custom_getter, constraint
        self._name_scope, self._dtype, self._use_resource = name_scope, dtype, use_resource

    @property
    def name(self) -> str:
        return self._name

    @property
    def original_name_scope(self) -> str:
        """The name scope that was opened with this variable scope."""
        return self._name_scope

    @property
    def reuse(self) -> Any:
        return self._reuse

    @property
    def initializer(self) -> Any:
        return self._initializer

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def use_resource(self) -> bool | None:
        return self._use_resource

    @property
    def regularizer(self) -> Any:
        return self._regularizer

    @property
    def caching_device(self) -> Any:
        return self._caching_device

    @property
    def partitioner(self) -> Any:
        return self._partitioner

    @property
    def custom_getter(self) -> Any:
        return self._custom_getter

    @property
    def constraint(self) -> Any:
        return self._constraint

    def reuse_variables(self) -> None:
        """From now on variables are shared, not made."""
        self._reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self._initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        self._dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        self._use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        self._regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self._caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        self._custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """The items of collection `name` made in this scope."""
        return get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Any = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """The variable `name` of this scope; what is not given comes from the scope."""
        full_name = f"{self.name}/{name}" if self.name else name
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found != dtype:
                    raise ValueError(
                        f"Initializer type '{found}' and explicit dtype '{dtype}' don't match."
                    )
            return var_store.get_variable(
                full_name,
                custom_getter=_or(custom_getter, self._custom_getter),
                shape=shape,
                dtype=_or(dtype, self._dtype),
                initializer=_or(initializer, self._initializer),
                regularizer=_or(regularizer, self._regularizer),
                reuse=_or(reuse, self._reuse),
                trainable=trainable,
                collections=collections,
                caching_device=_or(caching_device, self._caching_device),
                partitioner=_or(partitioner, self._partitioner),
                validate_shape=validate_shape,
                use_resource=_or(use_resource, self._use_resource),
                constraint=_or(constraint, self._constraint),
                synchronization=synchronization,
                aggregation=aggregation,
            )

    def _get_partitioned_variable(
        self, var_store: VariableStore, name: str | None, **wanted: Any
    ) -> Any:
        """As `get_variable`, for callers that insist on a partitioned variable."""
        if self._custom_getter is not None:
            raise ValueError(
                "Private access to _get_partitioned_variable is not allowed when a custom getter "
                f"is set.  Current custom getter: {self._custom_getter}.  It is likely that you're "
                "using create_partitioned_variables.  If so, consider instead using get_variable "
                "with a non-empty partitioner parameter instead."
            )
        with name_scope(None):
            return var_store.get_partitioned(
                Request(
                    "/".join(part for part in (self.name, name) if part),
                    reuse=self.reuse,
                    regularizer=self._regularizer,
                    caching_device=self._caching_device,
                    use_resource=self._use_resource,
                    constraint=self._constraint,
                    **wanted,
                )
            )


def _or(given: Any, default: Any) -> Any:
    return default if given is None else given


# ---- what is open in a graph ------------------------------------------------------------------


class _OpenScopes(threading.local):
    """The current variable scope of a graph, and how often each scope name has been opened."""

    def __init__(self) -> None:
        self.current_scope = VariableScope(False)
        self.variable_scopes_count: dict[str, int] = {}
        # Scope name -> scopes opened below it. A graph may have thousands of scopes (one for each
        # slot of an optimizer), so closing one must not look at all of them.
        self._below: dict[str, set[str]] = {}

    def open_variable_scope(self, name: str) -> None:
        self.variable_scopes_count[name] = self.variable_scopes_count.get(name, 0) + 1
        end = name.find("/")
        while end != -1:
            self._below.setdefault(name[:end], set()).add(name)
            end = name.find("/", end + 1)

    def close_variable_subscopes(self, name: str) -> None:
        for below in self._below.pop(name, ()):
            self.variable_scopes_count[below] = 0

    def variable_scope_count(self, name: str) -> int:
        return self.variable_scopes_count.get(name, 0)


def _in_graph(key: Any, make: Callable[[], Any]) -> Any:
    kept = get_default_graph().get_collection_ref(key)
    if not kept:
        kept.append(make())
    return kept[0]


def get_variable_scope_store() -> _OpenScopes:
    return _in_graph(_SCOPES_KEY, _OpenScopes)


def get_variable_scope() -> VariableScope:
    """The innermost open variable scope."""
    return get_variable_scope_store().current_scope


def _get_default_variable_store() -> VariableStore:
    return _in_graph(_STORE_KEY, VariableStore)


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """Makes the variable `name` of the current variable scope, or shares the one it has.

    `initializer` is a tensor, a value, or a function of (shape, dtype, partition_info);
    `partitioner` says into how many parts to cut the variable; `custom_getter(getter, name, ...)`
    is called in place of the built-in getter, which it gets as its first argument.
    """
    return get_variable_scope().get_variable(
        _get_default_variable_store(),
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


def get_local_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = False,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """`get_variable` for a variable that is local to the process and never trained."""
    return get_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=False,
        collections=[*(collections or []), GraphKeys.LOCAL_VARIABLES],
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        custom_getter=custom_getter,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


# ---- opening scopes ---------------------------------------------------------------------------


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
        settings = {key: _or(value, getattr(base, key)) for key, value in self._given.items()}
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
                self._old, name, _or(self._old_name_scope, given), self._reuse
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
    with variable_scope(
        name_or_scope,
        default_name=default_name,
        values=values,
        initializer=initializer,
        regularizer=regularizer,
        caching_device=caching_device,
        partitioner=partitioner,
        custom_getter=custom_getter,
        reuse=reuse,
        dtype=dtype,
        use_resource=use_resource,
        constraint=constraint,
    ) as scope:
        yield scope


# ---- what tf.Variable(...) does ---------------------------------------------------------------


class _Creators(threading.local):
    """The variable creators in force, innermost last, for each graph."""

    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[Graph, list[Any]] = weakref.WeakKeyDictionary()


_creators = _Creators()


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Variables are made by `variable_creator(next_creator, **kwargs)`, innermost scope first."""
    stack = _creators.of.setdefault(get_default_graph(), [])
    stack.append(variable_creator)
    try:
        yield
    finally:
        stack.pop()


def create_variable(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Any = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
    shape: Any = None,
) -> Variable:
    """The call `tf.Variable(...)`."""
    create: Callable[..., Any] = _create_by_default
    for creator in _creators.of.get(get_default_graph(), ()):
        create = functools.partial(creator, create)
    return create(
        initial_value=initial_value,
        trainable=trainable,
        collections=collections,
        validate_shape=validate_shape,
        caching_device=caching_device,
        name=name,
        variable_def=variable_def,
        dtype=dtype,
        expected_shape=expected_shape,
        import_scope=import_scope,
        constraint=constraint,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=VariableAggregation.NONE if aggregation is None else aggregation,
        shape=shape,
    )


def _create_by_default(
    use_resource: bool | None = None, expected_shape: Any = None, **kwargs: Any
) -> Variable:
    if use_resource is None:
        use_resource = get_variable_scope().use_resource
    if use_resource is None:
        use_resource = resource_variables_enabled()
    return ResourceVariable(**kwargs) if use_resource else RefVariable(**kwargs)
