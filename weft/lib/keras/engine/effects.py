"""Effects of users' code on variables, in a graph: in the order written, and not lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.graph.graph import Operation, Tensor, control_dependencies, get_default_graph
from weft.lib.keras.backend.symbolic import in_symbolic_graph
from weft.ops.array import placeholders as array_pass
from weft.ops.functions.effect_order import order_effects


def with_effects(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, list[Any]]:
    """(what `function` returns, the operations it added that change something, in order)"""
    graph = get_default_graph()
    before = len(graph.get_operations())
    result = function(*args, **kwargs)
    made = graph.get_operations()[before:]
    order_effects(made)
    return result, [op for op in made if _changes_something(op)]


def _changes_something(op: Operation) -> bool:
    kind = op.definition
    lasting = kind.stateful and not kind.reads_only and not kind.is_handle
    return lasting and op._get_control_flow_context() is None


def keeping_effects(call: Callable[..., Any]) -> Callable[..., Any]:
    """`call`, whose results come after its effects: as in eager execution, for its models."""

    def called(*args: Any, **kwargs: Any) -> Any:
        outputs, found = with_effects(call, *args, **kwargs)
        # Updates of layers have their own time.
        effects = [op for op in found if not hasattr(op, "_unconditional_update")]
        if not effects:
            return outputs
        with control_dependencies(effects):
            return nest.map_structure(_again, outputs)

    return called


def _again(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return x
    made = array_pass.identity(x)
    made._keras_mask = getattr(x, "_keras_mask", None)
    return made


def check_unconditional(item: Any, method: str) -> None:
    """Raises RuntimeError where a model of eager execution may not compute `item` at all."""
    op = item if isinstance(item, Operation) else getattr(item, "op", None)
    if op is None or not in_symbolic_graph() or op._get_control_flow_context() is None:
        return
    by = "a layer with" if method == "activity_regularizer" else "the method"
    raise RuntimeError(
        f"You are using {by} `{method}` in a control flow branch in your layer. This is not "
        "currently supported. Please move it out of the control flow branch, or mark your layer as "
        "dynamic (eager-only) by passing `dynamic=True` to the layer constructor."
    )
