"""tf.train.Scaffold: the operations that every training program needs besides its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from weft.core import dtypes
from weft.core.properties import stored
from weft.graph.constant import constant
from weft.graph.graph import (
    add_to_collection,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.summary import merge_all
from weft.lib.train.checkpoint.saver import _get_saver_or_default
from weft.ops.array import join as array_join
from weft.ops.control.control import group
from weft.ops.math import indexing, math
from weft.ops.state.variables import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)


def initialize_resources(resources: Iterable[Any], name: str = "init") -> Any:
    """Makes resources other than variables, such as those of a collection."""
    return group(*[resource.create for resource in resources], name=name)


def report_uninitialized_resources(
    resources: Iterable[Any] | None = None, name: str = "report_uninitialized_resources"
) -> Any:
    """The names of the resources that are not there yet."""
    if resources is None:
        resources = [
            *get_collection(GraphKeys.RESOURCES),
            *get_collection(GraphKeys.LOCAL_RESOURCES),
        ]
    found = list(resources)
    with name_scope(name), device("/cpu:0"):
        if not found:
            return constant([], dtype=dtypes.string)
        missing = math.logical_not(array_join.stack([each.is_initialized for each in found]))
        return indexing.boolean_mask(constant([each.handle.name for each in found]), missing)


def initialize_tables(name: str = "init_all_tables") -> Any:
    """Fills all lookup tables of the graph."""
    found = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*found, name=name) if found else raw.NoOp(name=name)


def attributes(holder: Any, *names: str) -> dict[str, Any]:
    """Attributes of an object by name, to be passed on as arguments of these names."""
    return {name: getattr(holder, name) for name in names}


def collected(key: str, make: Callable[[], Any] | None) -> Any:
    """The first of a collection; if it is empty, what `make` makes, which joins it."""
    for found in get_collection(key):
        return found
    made = None if make is None else make()
    if made is not None:
        add_to_collection(key, made)
    return made


class Scaffold:
    """Holds init ops, ready ops, summaries and saver of a graph.

    What is not given comes from the graph's collections, or is made by `finalize`.

    Args:
        init_op, local_init_op: operations that initialize.
        init_feed_dict: for `init_op`.
        init_fn: a function of the scaffold and the session, called after `init_op`.
        ready_op, ready_for_local_init_op: give the names of variables that still lack a value.
        summary_op: the summaries to write.
        saver: the `Saver`.
        copy_from_scaffold: another scaffold, for what is not given.

    Raises:
        ValueError: an operation is of another graph.

    Example:
        >>> v = tf.Variable(5)
        >>> seven = v.assign(7)
        >>> scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(seven))
        >>> with tf.train.SingularMonitoredSession(scaffold=scaffold) as training:
        ...     int(training.run(v))
        7
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Scaffold | None = None,
    ) -> None:
        if copy_from_scaffold is not None and not isinstance(copy_from_scaffold, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(value: Any, name: str) -> Any:
            return getattr(copy_from_scaffold, name, None) if value is None else value

        self._user_init_fn = given(init_fn, "_user_init_fn")
        self._init_op = given(init_op, "init_op")
        self._init_feed_dict = given(init_feed_dict, "init_feed_dict")
        self._ready_op = given(ready_op, "ready_op")
        self._ready_for_local_init_op = given(ready_for_local_init_op, "ready_for_local_init_op")
        self._local_init_op = given(local_init_op, "local_init_op")
        self._summary_op = given(summary_op, "summary_op")
        self._saver = given(saver, "saver")

    def finalize(self) -> Scaffold:
        """Makes what is missing, and closes the graph."""
        missing = [
            ("init_op", GraphKeys.INIT_OP, _default_init_op),
            ("ready_op", GraphKeys.READY_OP, _default_ready_op),
            ("ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, _globals_ready_op),
            ("local_init_op", GraphKeys.LOCAL_INIT_OP, Scaffold.default_local_init_op),
            ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
        ]
        for name, key, make in missing:
            if getattr(self, f"_{name}") is None:
                setattr(self, f"_{name}", Scaffold.get_or_default(name, key, make))
        if self._saver is None:
            self._saver = _get_saver_or_default()
        self._saver.build()
        get_default_graph().finalize()
        logging.info("Graph was finalized.")
        return self

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """To be called with the session, after `init_op`."""
        function = self._user_init_fn
        return None if function is None else lambda session: function(self, session)

    init_op = stored("init_op", "What initializes the variables.")
    ready_op = stored("ready_op", "Names of variables that are not initialized.")
    ready_for_local_init_op = stored(
        "ready_for_local_init_op", "Names of variables that `local_init_op` still waits for."
    )
    local_init_op = stored("local_init_op", "What initializes local variables and tables.")
    summary_op = stored("summary_op", "All summaries together.")
    saver = stored("saver", "What saves and restores.")
    init_feed_dict = stored("init_feed_dict", "What is fed to `init_op`.")

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """The item of the collection; if it is empty, the result of `default_constructor`."""
        if len(get_collection(collection_key)) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which '
                "one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        return collected(collection_key, default_constructor)

    @staticmethod
    def default_local_init_op() -> Any:
        """Initializes local variables, tables and local resources."""
        return group(
            local_variables_initializer(),
            initialize_tables(),
            initialize_resources(get_collection(GraphKeys.LOCAL_RESOURCES)),
        )


def _default_init_op() -> Any:
    return group(
        global_variables_initializer(), initialize_resources(get_collection(GraphKeys.RESOURCES))
    )


def _default_ready_op() -> Any:
    return array_join.concat(
        [report_uninitialized_variables(), report_uninitialized_resources()], 0
    )


def _globals_ready_op() -> Any:
    variables = report_uninitialized_variables(global_variables())
    resources = report_uninitialized_resources(get_collection(GraphKeys.RESOURCES))
    return array_join.concat([variables, resources], 0)
