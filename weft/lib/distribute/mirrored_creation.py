"""Making a variable with a copy on each device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.graph.graph import GraphKeys, device, get_default_graph
from weft.lib.distribute.variables import MirroredVariable, SyncOnReadVariable
from weft.ops.array import array
from weft.ops.state.variable_def import VariableSynchronization, validate_distribution


def create_mirrored(
    extended: Any, devices: Sequence[str], next_creator: Callable[..., Any], kwargs: dict[str, Any]
) -> Any:
    """The variable that `kwargs` describe, with copies that start as the first one does."""
    collections = kwargs.pop("collections", None)
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    synchronization, aggregation, trainable = validate_distribution(
        kwargs.get("synchronization"), kwargs.pop("aggregation", None), kwargs.get("trainable"),
        kwargs.get("name"),
    )  # fmt: skip
    if synchronization is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with `Mirrored` distribution"
            f" strategy. Please change the `synchronization` for variable: {kwargs.get('name')}"
        )
    kwargs.pop("caching_device", None)
    on_read = synchronization is VariableSynchronization.ON_READ
    copies = _copies(extended, devices, next_creator, kwargs | {"collections": []})
    kind = SyncOnReadVariable if on_read else MirroredVariable
    variable = kind(extended._container_strategy(), devices, copies, aggregation)
    leave_collections(copies)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
    get_default_graph().add_to_collections(collections, variable)
    return variable


def leave_collections(variables: Sequence[Any]) -> None:
    """Takes variables out of the trainable ones: what they are part of goes in."""
    trainable = get_default_graph().get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
    trainable[:] = [each for each in trainable if not any(each is v for v in variables)]


def _copies(
    extended: Any, devices: Sequence[str], next_creator: Callable[..., Any], kwargs: dict[str, Any]
) -> list[Any]:
    copies: list[Any] = []
    for i, where in enumerate(devices):
        with device(where):
            if i == 0:
                changed = {"initial_value": extended._first_value(where, kwargs)}
            else:
                changed = {
                    "initial_value": _same_as(copies[0], where),
                    "name": f"{copies[0].op.name}/replica_{i}/",
                }
            copy = next_creator(**{**kwargs, **changed})
        copy._distribute_strategy = extended._container_strategy()
        copies.append(copy)
    return copies


def _same_as(first: Any, where: str) -> Callable[[], Any]:
    """The initial value of another copy, which is computed once for all of them."""

    def initial_value() -> Any:
        with device(where):
            # One that was made eagerly has its value, and none to start with.
            given = first.initial_value
            return array.identity(first.value() if given is None else given)

    return initial_value
