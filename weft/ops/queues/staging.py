"""StagingArea and MapStagingArea: operations and classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core.shapes import TensorShape, unknown_shape
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import colocate_with, get_default_graph, name_scope
from weft.graph.op_def import op, raw
from weft.graph.tensor import Tensor
from weft.graph.traits import BLOCKING, HOST_STATE
from weft.ops.kit.resource_names import named_or_node
from weft.ops.kit.shared import invalid
from weft.ops.queues.staging_objects import StagingList, StagingMap

_LIMITS = "capacity: int >= 0 = 0, memory_limit: int >= 0 = 0, "
_SHARED = ', container: string = "", shared_name: string = ""'
_SOME = f"{_LIMITS}dtypes: list(type) >= 1{_SHARED}"
_ANY = f"{_LIMITS}dtypes: list(type){_SHARED}"


def _area(ctx: Any) -> StagingList:
    attrs = ctx.node.attrs
    return named_or_node(
        ctx, "staging area", attrs["container"], attrs["shared_name"],
        lambda: StagingList(attrs["capacity"], attrs["memory_limit"]),
    )  # fmt: skip


@op("Stage", inputs="values: dtypes", attrs=_SOME, shape=s.none, traits=HOST_STATE | BLOCKING)
def stage(xp: Any, ctx: Any, values: list[Any]) -> Any:
    return _area(ctx).put(values)


@op("Unstage", outputs="values: dtypes", attrs=_SOME, shape=s.unknown, traits=HOST_STATE | BLOCKING)
def unstage(xp: Any, ctx: Any) -> Any:
    return _area(ctx).get(len(ctx.node.attrs["dtypes"]))


@op(
    "StagePeek", inputs="index: int32", outputs="values: dtypes", attrs=_SOME, shape=s.unknown,
    traits=HOST_STATE | BLOCKING,
)  # fmt: skip
def stage_peek(xp: Any, ctx: Any, index: Any) -> Any:
    return _area(ctx).peek(int(index), len(ctx.node.attrs["dtypes"]))


@op("StageSize", outputs="size: int32", attrs=_ANY, shape=s.scalar, traits=HOST_STATE)
def stage_size(xp: Any, ctx: Any) -> Any:
    return np.array(len(_area(ctx).items), np.int32)


@op("StageClear", attrs=_ANY, shape=s.none, traits=HOST_STATE)
def stage_clear(xp: Any, ctx: Any) -> None:
    _area(ctx).clear()


def _key(key: Any) -> int:
    if not np.size(key):
        raise invalid("key must not be empty")
    if np.size(key) != 1:
        raise invalid(
            f"key must be an int64 scalar, got tensor with shape: {s.show(np.shape(key))}"
        )
    return int(np.ravel(key)[0])


def _declare_map(prefix: str, ordered: bool) -> None:
    def area(ctx: Any) -> StagingMap:
        attrs = ctx.node.attrs
        return named_or_node(
            ctx, f"{prefix} staging map", attrs["container"], attrs["shared_name"],
            lambda: StagingMap(attrs["capacity"], attrs["memory_limit"], ordered),
        )  # fmt: skip

    @op(
        f"{prefix}Stage", inputs="key: int64, indices: int32, values: fake_dtypes",
        attrs=f"{_LIMITS}dtypes: list(type), fake_dtypes: list(type) >= 1{_SHARED}", shape=s.none,
        traits=HOST_STATE | BLOCKING,
    )  # fmt: skip
    def stage(xp: Any, ctx: Any, key: Any, indices: Any, values: list[Any]) -> Any:
        return area(ctx).put(_key(key), indices, values, len(ctx.node.attrs["dtypes"]))

    def taker(name: str, take: Callable[[StagingMap, int, Any], Any]) -> None:
        @op(
            name, inputs="key: int64, indices: int32", outputs="values: dtypes", attrs=_SOME,
            shape=s.unknown, traits=HOST_STATE | BLOCKING,
        )  # fmt: skip
        def kernel(xp: Any, ctx: Any, key: Any, indices: Any) -> Any:
            return take(area(ctx), _key(key), indices)

    taker(f"{prefix}Peek", StagingMap.peek)
    taker(f"{prefix}Unstage", StagingMap.pop)

    @op(
        f"{prefix}UnstageNoKey", inputs="indices: int32", outputs="key: int64, values: dtypes",
        attrs=_SOME, shape=s.unknown, traits=HOST_STATE | BLOCKING,
    )  # fmt: skip
    def unstage_no_key(xp: Any, ctx: Any, indices: Any) -> Any:
        return area(ctx).pop_any(indices)

    @op(f"{prefix}Size", outputs="size: int32", attrs=_ANY, shape=s.scalar, traits=HOST_STATE)
    def size(xp: Any, ctx: Any) -> Any:
        return np.array(len(area(ctx).items), np.int32)

    @op(
        f"{prefix}IncompleteSize",
        outputs="size: int32",
        attrs=_ANY,
        shape=s.scalar,
        traits=HOST_STATE,
    )
    def incomplete_size(xp: Any, ctx: Any) -> Any:
        return np.array(len(area(ctx).incomplete), np.int32)

    @op(f"{prefix}Clear", attrs=_ANY, shape=s.none, traits=HOST_STATE)
    def clear(xp: Any, ctx: Any) -> None:
        area(ctx).clear()


_declare_map("Map", ordered=False)
_declare_map("OrderedMap", ordered=True)


# ---- classes -------------------------------------------------------------------------------------


class BaseStagingArea:
    """The base of both staging areas: component types, shapes, names, and limits."""

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        if shared_name is None:
            self._name = get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        self._dtypes = dtypes
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(f"StagingArea {what} must be the same length as dtypes")
        self._shapes = [unknown_shape() for _ in dtypes]
        if shapes is not None:
            self._shapes = [TensorShape(shape) for shape in shapes]
        self._names = names
        self._capacity, self._memory_limit = capacity, memory_limit
        with name_scope(f"{self._name}_root"):
            self._coloc_op = raw.NoOp()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtypes(self) -> Sequence[Any]:
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> Any:
        return self._names

    @property
    def capacity(self) -> int:
        return self._capacity

    @property
    def memory_limit(self) -> int:
        return self._memory_limit

    @property
    def _shared(self) -> dict[str, Any]:
        """The attributes by which every operation names this area."""
        return {
            "shared_name": self._name,
            "capacity": self._capacity,
            "memory_limit": self._memory_limit,
        }

    def _components(self, vals: Any, indices: Any = None) -> tuple[list[Tensor], list[int]]:
        """The values to put, and which components they are."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals) <= set(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. Dictionary:"
                    f" ({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            indices = [i for i, name in enumerate(self._names) if name in vals]
            vals = [vals[self._names[i]] for i in indices]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            if not isinstance(vals, (list, tuple)):
                vals, indices = [vals], [0]
            if len(indices) != len(vals):
                raise ValueError(
                    f"Number of indices '{len(indices)}' doesn't match number of values"
                    f" '{len(vals)}'"
                )
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        return [self._component(v, i) for v, i in zip(vals, indices, strict=True)], list(indices)

    def _component(self, value: Any, i: int) -> Tensor:
        wanted = self._dtypes[i]
        if value.dtype != wanted:
            raise ValueError(f"Datatypes do not match. '{value.dtype}' != '{wanted}'")
        value.shape.assert_is_compatible_with(self._shapes[i])
        return convert_to_tensor(value, wanted, f"component_{i}")

    def _here(self, tensors: Any) -> list[Tensor]:
        """Tensors of the area, brought to the device of the caller."""
        taken = list(tensors) if isinstance(tensors, tuple | list) else [tensors]
        apart = raw.NoOp().device != self._coloc_op.device
        return [raw.Identity(tensor) for tensor in taken] if apart else taken

    def _taken(self, tensors: Any, indices: Sequence[int]) -> Any:
        found = [*zip(indices, self._here(tensors), strict=True)]
        for i, tensor in found:
            tensor.set_shape(self._shapes[i])
        if not self._names:
            return [tensor for _, tensor in found]
        return {self._names[i]: tensor for i, tensor in found}

    @staticmethod
    def _scope_values(vals: Any) -> list[Any]:
        if isinstance(vals, dict):
            return list(vals.values())
        return list(vals) if isinstance(vals, (list, tuple)) else [vals]


class StagingArea(BaseStagingArea):
    """Tuples of tensors kept between steps, in order: a step can prepare what the next one uses."""

    def put(self, values: Any, name: str | None = None) -> Any:
        """The operation that adds a tuple; it waits while the area is full."""
        values = values if isinstance(values, list | tuple | dict) else [values]
        with name_scope(name, f"{self._name}_put", self._scope_values(values)) as scope:
            tensors, _ = self._components(values, range(len(values)))
            with colocate_with(self._coloc_op):
                return raw.Stage(values=tensors, name=scope, **self._shared)

    def get(self, name: str | None = None) -> Any:
        """Takes the oldest tuple out; waits while there is none."""
        with colocate_with(self._coloc_op):
            tensors = raw.Unstage(
                dtypes=self._dtypes, name=name or f"{self._name}_get", **self._shared
            )
        return self._taken(tensors, range(len(self._dtypes)))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """The tuple at `index`, which stays there; waits until there is one."""
        with colocate_with(self._coloc_op):
            tensors = raw.StagePeek(
                index, dtypes=self._dtypes, name=name or f"{self._name}_peek", **self._shared
            )
        return self._taken(tensors, range(len(self._dtypes)))

    def size(self, name: str | None = None) -> Tensor:
        name = name or f"{self._name}_size"
        return raw.StageSize(dtypes=self._dtypes, name=name, **self._shared)

    def clear(self, name: str | None = None) -> Any:
        """The operation that empties the area."""
        name = name or f"{self._name}_clear"
        return raw.StageClear(dtypes=self._dtypes, name=name, **self._shared)


class MapStagingArea(BaseStagingArea):
    """Tuples of tensors kept between steps by key; a tuple may come and leave in parts."""

    def __init__(
        self,
        dtypes: Sequence[Any],
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ordered = ordered

    def _op(self, what: str) -> Any:
        return getattr(raw, ("OrderedMap" if self._ordered else "Map") + what)

    def put(self, key: Any, vals: Any, indices: Any = None, name: str | None = None) -> Any:
        """The operation that adds a tuple, or the parts of it that `indices` says."""
        with name_scope(name, f"{self._name}_put", self._scope_values(vals)) as scope:
            tensors, indices = self._components(vals, indices)
            with colocate_with(self._coloc_op):
                return self._op("Stage")(
                    key, indices, tensors, dtypes=self._dtypes, name=scope, **self._shared
                )

    def _places(self, indices: Any) -> tuple[list[int], list[Any]]:
        """The numbers of the wanted components, and their types."""
        if indices is None:
            indices = [*range(len(self._dtypes))]
        if not isinstance(indices, tuple | list):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        by_name, by_number = (all(isinstance(i, kind) for i in indices) for kind in (str, int))
        if not (by_name or by_number):
            raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")
        places = self._numbers(indices) if by_name else [*indices]
        return places, [self._dtypes[i] for i in places]

    def _numbers(self, names: Sequence[str]) -> list[int]:
        known = self._names
        if known is None:
            raise ValueError(
                f"String indices provided '{names}', but this Staging Area was not created"
                " with names."
            )
        for name in names:
            if name not in known:
                raise ValueError(f"Named index '{name}' not in Staging Area names '{known}'")
        return [known.index(name) for name in names]

    def _take(self, what: str, key: Any, indices: Any, name: str) -> Any:
        places, dtypes = self._places(indices)
        with colocate_with(self._coloc_op):
            tensors = self._op(what)(key, places, dtypes=dtypes, name=name, **self._shared)
        return self._taken(tensors, places)

    def peek(self, key: Any, indices: Any = None, name: str | None = None) -> Any:
        """The tuple of `key`, which stays there; waits until there is one."""
        return self._take("Peek", key, indices, name or f"{self._name}_pop")

    def get(self, key: Any = None, indices: Any = None, name: str | None = None) -> Any:
        """(key, tuple), taken out; of any key if none is given. Waits until there is one."""
        if key is not None:
            return key, self._take("Unstage", key, indices, name or f"{self._name}_get")
        places, dtypes = self._places(indices)
        with colocate_with(self._coloc_op):
            key, tensors = self._op("UnstageNoKey")(
                places, dtypes=dtypes, name=name or f"{self._name}_get_nokey", **self._shared
            )
        return self._here(key)[0], self._taken(tensors, places)

    def size(self, name: str | None = None) -> Tensor:
        """The number of complete tuples."""
        name = name or f"{self._name}_size"
        return self._op("Size")(dtypes=self._dtypes, name=name, **self._shared)

    def incomplete_size(self, name: str | None = None) -> Tensor:
        name = name or f"{self._name}_incomplete_size"
        return self._op("IncompleteSize")(dtypes=self._dtypes, name=name, **self._shared)

    def clear(self, name: str | None = None) -> Any:
        """The operation that empties the area."""
        name = name or f"{self._name}_clear"
        return self._op("Clear")(dtypes=self._dtypes, name=name, **self._shared)
