"""`get_variable`, and the defaults it takes from the variable scope it is called in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, get_collection, get_default_graph, name_scope
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.variable_store import AUTO_REUSE, Request, VariableStore
from weft.ops.state.variables import VariableAggregation, VariableSynchronization

# Both live in the graph's collections, under keys that are not exported with it.
STORE_KEY: Any = ("__variable_store",)
_SCOPES_KEY: Any = ("__varscope",)


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
        if executing_eagerly():  # also for functions that are traced in this scope later
            self._reuse, self._use_resource = AUTO_REUSE, True

    name = property(attrgetter("_name"))
    original_name_scope = property(
        attrgetter("_name_scope"), doc="The name scope that was opened with this variable scope."
    )
    reuse = property(attrgetter("_reuse"))
    initializer = property(attrgetter("_initializer"))
    dtype = property(attrgetter("_dtype"))
    use_resource = property(attrgetter("_use_resource"))
    regularizer = property(attrgetter("_regularizer"))
    caching_device = property(attrgetter("_caching_device"))
    partitioner = property(attrgetter("_partitioner"))
    custom_getter = property(attrgetter("_custom_getter"))
    constraint = property(attrgetter("_constraint"))

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
                custom_getter=given_or(custom_getter, self._custom_getter),
                shape=shape,
                dtype=given_or(dtype, self._dtype),
                initializer=given_or(initializer, self._initializer),
                regularizer=given_or(regularizer, self._regularizer),
                reuse=given_or(reuse, self._reuse),
                trainable=trainable,
                collections=collections,
                caching_device=given_or(caching_device, self._caching_device),
                partitioner=given_or(partitioner, self._partitioner),
                validate_shape=validate_shape,
                use_resource=given_or(use_resource, self._use_resource),
                constraint=given_or(constraint, self._constraint),
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


def given_or(given: Any, default: Any) -> Any:
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
    """The innermost open variable scope.

    Returns:
        A `VariableScope`; its `reuse_variables()` makes later calls share variables.

    Example:
        >>> with tf.variable_scope("outer"), tf.variable_scope("inner"):
        ...     scope = tf.get_variable_scope()
        >>> scope.name
        'outer/inner'
    """
    return get_variable_scope_store().current_scope


@contextmanager
def resource_variables() -> Iterator[None]:
    """Inside of it, the innermost scope makes resource variables, as bodies of functions want."""
    scope = get_variable_scope()
    before, scope._use_resource = scope._use_resource, True
    try:
        yield
    finally:
        scope._use_resource = before


def _get_default_variable_store() -> VariableStore:
    return _in_graph(STORE_KEY, VariableStore)


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

    Args:
        name: the name inside the scope.
        shape: of a new variable; not needed when the initializer tells.
        dtype: of a new variable; None: that of the scope, float32.
        initializer: for its first value; None: that of the scope, or Glorot's uniform one.
        regularizer: a function of the variable; the result joins `REGULARIZATION_LOSSES`.
        trainable: whether optimizers update it; None: yes.
        collections: which it joins; None: the global variables.
        caching_device: a device to keep a copy for reading on.
        partitioner: see above.
        validate_shape: False leaves the shape open.
        use_resource: whether reads are snapshots.
        custom_getter: see above.
        constraint: projects the value after each update by an optimizer.
        synchronization, aggregation: for distribution strategies.

    Returns:
        A variable, or a `PartitionedVariable`.

    Raises:
        ValueError: it exists and may not be shared, or does not exist and must be; or its shape
            differs.

    Example:
        >>> with tf.variable_scope("net"):
        ...     w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer())
        >>> w.name, w.shape
        ('net/w:0', TensorShape([Dimension(2), Dimension(3)]))
    """
    return get_variable_scope().get_variable(_get_default_variable_store(), **locals())


@with_parameters_of(get_variable, trainable=False)
def get_local_variable(**wanted: Any) -> Any:
    """`get_variable` for a variable that is local to the process and never trained."""
    local = [*(wanted["collections"] or []), GraphKeys.LOCAL_VARIABLES]
    return get_variable(**{**wanted, "trainable": False, "collections": local})
