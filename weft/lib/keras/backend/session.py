"""The session Keras computes with, one for each graph, and the values of variables in it.

Variables that Keras made are initialized when a session is first asked for after they were made,
in every session, unless the program says that it does so itself.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from weft.client import process_config
from weft.client.session import Session
from weft.core import dtypes
from weft.graph import stacks
from weft.graph.graph import Graph, get_default_graph
from weft.graph.tensor_util import is_tensor
from weft.lib.keras.backend.graph_state import reset_uids, state_of, tracked_variables
from weft.lib.keras.backend.phase import learning_phase
from weft.lib.keras.backend.symbolic import eager_program, has_value, value_of
from weft.ops.array import array
from weft.ops.state.updates import is_variable_initialized
from weft.ops.state.variable_lists import variables_initializer

_settings = {"manual": False}
_own: weakref.WeakSet[Session] = weakref.WeakSet()  # sessions that the program did not make


class _Known(threading.local):
    """The sessions that this thread made or set: those that it may make Keras forget."""

    def __init__(self) -> None:
        self.sessions: weakref.WeakSet[Any] = weakref.WeakSet()


_known = _Known()
_making = threading.Lock()


def get_session(op_input_list: Any = ()) -> Session:
    """The default session, or Keras's own for the graph of `op_input_list` or the current one."""
    session = stacks.get_default_session()
    if session is None:
        session = _session_of(_graph_of(op_input_list))
    if not _settings["manual"]:
        initialize_variables(session)
    return session


def _graph_of(inputs: Any) -> Graph:
    found = next((x.graph for x in inputs if hasattr(x, "graph")), None)
    graph = get_default_graph() if found is None else found
    if graph.outer_graph is not None:
        raise RuntimeError("Cannot get session inside Tensorflow graph function.")
    return graph


def _session_of(graph: Graph) -> Session:
    """The session of a graph: kept with it, so that weights outlast work on another graph."""
    state = state_of(graph)
    with _making:
        if state.session is None:
            state.session = Session(graph=graph, config=process_config.softly_placed())
            _own.add(state.session)
            _known.sessions.add(state.session)
        return state.session


def set_session(session: Any) -> None:
    """Makes `session` the one that Keras uses for its graph; None stands for a new one."""
    if session is None:
        state_of().session = None
        return
    state_of(session.graph).session = session
    _known.sessions.add(session)


def clear_session() -> None:
    """Forgets all models: a new default graph, a new session, names counted from the start."""
    program = eager_program()
    if program is None:
        stacks.reset_default_graph()
    else:
        program.symbolic = state_of(program).learning_phase = None
    reset_uids()
    for session in list(_known.sessions):
        _forget(session)
    learning_phase()


def _forget(session: Any) -> None:
    state = state_of(session.graph)
    if state.session is session:
        state.session = None
    if session in _own:
        session.close()  # the program has no reference to it
    _known.sessions.discard(session)


def manual_variable_initialization(value: bool) -> None:
    """With True, the program initializes the variables that Keras makes."""
    _settings["manual"] = value


def initialize_variables(session: Session) -> None:
    """Initializes variables that Keras made since the last call and that have no value yet."""
    variables = tracked_variables(session.graph)
    seen = getattr(session, "_keras_seen", 0)
    if seen == len(variables):
        return
    new = variables[seen:]
    session._keras_seen = len(variables)  # type: ignore[attr-defined]
    with session.graph.as_default():
        flags = session.run([is_variable_initialized(v) for v in new])
        missing = [v for v, done in zip(new, flags, strict=True) if not done]
        for variable in new:
            variable._keras_initialized = True
        if missing:
            session.run(variables_initializer(missing))
        for restore in list(state_of(session.graph).restores.values()):
            restore(session)


def get_value(x: Any) -> Any:
    """The value of a variable or tensor; whatever else is given is returned."""
    if not is_tensor(x):
        return x
    return value_of(x) if has_value(x) else x.eval(session=get_session((x,)))


def eval(x: Any) -> Any:
    """The value of `x`, dense even if it is sparse."""
    from weft.lib.keras.backend.variables import to_dense

    return get_value(to_dense(x))


def batch_get_value(tensors: Any) -> list[Any]:
    """The values of several variables, in one step."""
    if all(has_value(x) for x in tensors):
        return [value_of(x) for x in tensors]
    return get_session(tensors).run(list(tensors))


def set_value(x: Any, value: Any) -> None:
    """Assigns `value` to the variable `x`."""
    batch_set_value([(x, value)])


def batch_set_value(tuples: Any) -> None:
    """Assigns values to several variables, given as pairs (variable, value), in one step."""
    pairs = [(x, np.asarray(value, dtype=_numpy_dtype(x))) for x, value in tuples]
    if not pairs:
        return
    if all(has_value(x) for x, _ in pairs):
        with pairs[0][0].graph.as_default():
            for x, value in pairs:
                x.assign(value)
        return
    with pairs[0][0].graph.as_default():
        assigned = [(_assignment(x, value.ndim), value) for x, value in pairs]
    session = get_session([x for x, _ in pairs])
    session.run([op for (_, op), _ in assigned], {fed: v for (fed, _), v in assigned})


def _numpy_dtype(x: Any) -> Any:
    return x.dtype.base_dtype.as_numpy_dtype


def _assignment(variable: Any, ndim: int) -> tuple[Any, Any]:
    """(placeholder, op that assigns it), made once for each variable."""
    if not hasattr(variable, "_assign_placeholder"):
        dtype = dtypes.as_dtype(variable.dtype).base_dtype
        # Sizes are left open: some variables change theirs.
        variable._assign_placeholder = array.placeholder(dtype, shape=[None] * ndim)
        variable._assign_op = variable.assign(variable._assign_placeholder)
    return variable._assign_placeholder, variable._assign_op
