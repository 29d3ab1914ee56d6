"""Operations on labeled tensors that know axes by name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant as constant_node
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib.labeled_tensor.core import (
    Axes,
    Axis,
    AxisOrderError,
    LabeledTensor,
    as_axis,
    concat_axes,
    convert_to_labeled_tensor,
    get_axis_order,
    identity,
    slice_function,
)
from weft.lib.train.input import queues
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as selecting
from weft.ops.array.pad import pad as pad_tensor
from weft.ops.control.check import verify_tensor_all_finite as verify_finite
from weft.ops.functions import functional
from weft.ops.math import casts, reduce
from weft.ops.math.matmul import matmul as matmul_tensors
from weft.ops.random.random import random_crop as random_crop_tensor


def _places(axis: Axis, value: Any) -> Any:
    """The places of a label, of a slice of labels (with both ends), or of a list of them."""
    if isinstance(value, slice):
        if value.step is not None:
            raise NotImplementedError("slicing with a step is not yet supported")
        first = None if value.start is None else axis.index(value.start)
        last = None if value.stop is None else axis.index(value.stop) + 1
        return slice(first, last)
    if isinstance(value, Hashable):
        return axis.index(value)
    if isinstance(value, list):
        return [axis.index(each) for each in value]
    raise TypeError("cannot handle arbitrary types")


def select(
    labeled_tensor: Any, selection: Mapping[str, Any], name: str | None = None
) -> LabeledTensor:
    """A part by labels: one label removes its axis, a slice or a list of labels keeps it."""
    with name_scope(name, "lt_select") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        chosen = {}
        for axis_name, value in selection.items():
            if axis_name not in given.axes:
                raise ValueError(
                    f"The tensor does not have an axis named {axis_name}. Its axes are: "
                    f"{given.axes.keys()!r}"
                )
            axis = given.axes[axis_name]
            if axis.labels is None:
                raise ValueError(
                    f"The axis named {axis_name} does not have labels. The axis is: {axis!r}"
                )
            chosen[axis_name] = _places(axis, value)
        lists = {axis: each for axis, each in chosen.items() if isinstance(each, list)}
        if len(lists) > 1:
            raise NotImplementedError(
                "select does not yet support more than one list selection at the same time"
            )
        if not lists:
            return slice_function(given, chosen, name=scope)
        if len(chosen) > 1:
            raise NotImplementedError(
                "select does not yet support combined scalar and list selection"
            )
        ((axis_name, places),) = lists.items()
        found = gather.gather(given.tensor, places, axis=list(given.axes).index(axis_name))
        axes = [
            Axis(axis_name, selection[axis_name]) if axis.name == axis_name else axis
            for axis in given.axes.values()
        ]
        return LabeledTensor(array.identity(found, name=scope), axes)


def concat(labeled_tensors: Any, axis_name: str, name: str | None = None) -> LabeledTensor:
    """Tensors joined along an axis; all others must be the same."""
    with name_scope(name, "lt_concat") as scope:
        given = list(map(convert_to_labeled_tensor, labeled_tensors))
        if not given:
            raise ValueError(f"concat expects at least 1 tensor, but received {given}")
        names = list(given[0].axes)
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        shared = given[0].axes.remove(axis_name)
        for each in given[1:]:
            if each.axes.remove(axis_name) != shared:
                raise ValueError(
                    f"Mismatched shared axes: the first tensor had axes {shared!r} but this tensor "
                    f"has axes {each.axes.remove(axis_name)!r}."
                )
        whole = concat_axes([each.axes[axis_name] for each in given])
        tensors = [each.tensor for each in given]
        joined = array.concat(tensors, names.index(axis_name), name=scope)
        return LabeledTensor(joined, [whole if n == axis_name else shared[n] for n in names])


def pack(
    labeled_tensors: Any, new_axis: Any, axis_position: int = 0, name: str | None = None
) -> LabeledTensor:
    """Tensors of the same axes along a new one."""
    with name_scope(name, "lt_pack") as scope:
        given = list(map(convert_to_labeled_tensor, labeled_tensors))
        if not given:
            raise ValueError(f"pack expects at least 1 tensors, but received {given}")
        axes = list(given[0].axes.values())
        for each in given:
            if each.axes != given[0].axes:
                raise ValueError(
                    f"Non-identical axes. Expected {given[0].axes} but got {each.axes}"
                )
        stacked = array.stack([each.tensor for each in given], axis=axis_position, name=scope)
        axes.insert(axis_position, new_axis)
        return LabeledTensor(stacked, axes)


def unpack(
    labeled_tensor: Any, axis_name: str | None = None, name: str | None = None
) -> list[LabeledTensor]:
    """The tensors along an axis, by default the first."""
    with name_scope(name, "lt_unpack") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        names = list(given.axes)
        wanted = names[0] if axis_name is None else axis_name
        if wanted not in names:
            raise ValueError(f"{wanted} not in {names}")
        parts = array.unstack(given.tensor, axis=names.index(wanted), name=scope)
        return [LabeledTensor(part, given.axes.remove(wanted)) for part in parts]


def _size(axis: Any) -> int:
    if isinstance(axis, str):
        return -1
    size = as_axis(axis).size
    return -1 if size is None else size


def reshape(
    labeled_tensor: Any, existing_axes: Any, new_axes: Any, name: str | None = None
) -> LabeledTensor:
    """Some axes that follow each other as others; a name alone takes the size that is left."""
    with name_scope(name, "lt_reshape") as scope:
        given, old = convert_to_labeled_tensor(labeled_tensor), list(existing_axes)
        names = list(given.axes)
        if not set(old) <= set(names):
            raise ValueError(
                f"existing_axes {old!r} are not contained in the set of axis names {names!r} on "
                "the input labeled tensor"
            )
        first, last = names.index(old[0]), names.index(old[-1]) + 1
        if old != names[first:last]:
            raise AxisOrderError(
                f"existing_axes {old!r} are not a slice of axis names {names!r} on the input "
                "labeled tensor. Use `transpose` or `impose_axis_order` to reorder axes on the "
                "input explicitly."
            )
        if sum(isinstance(axis, str) for axis in new_axes) > 1:
            raise ValueError(
                "at most one axis in new_axes can have unknown size. All other axes must have an "
                f"indicated integer size or labels: {new_axes!r}"
            )
        whole = list(given.axes.values())
        axes = [*whole[:first], *new_axes, *whole[last:]]
        made = array.reshape(given.tensor, list(map(_size, axes)), name=scope)
        return LabeledTensor(made, axes)


def rename_axis(
    labeled_tensor: Any, existing_name: str, new_name: str, name: str | None = None
) -> LabeledTensor:
    """An axis under another name."""
    with name_scope(name, "lt_rename_axis") as scope:
        found = labeled_tensor.axes.get(existing_name)
        if found is not None:
            return reshape(
                labeled_tensor, [existing_name], [Axis(new_name, found.value)], name=scope
            )
    known = labeled_tensor.axes.keys()
    raise ValueError(
        f"existing_name {existing_name!r} are not contained in the set of axis names {known!r} on "
        "the input labeled tensor"
    )


def _in_batches(
    default: str, made: Callable[..., Any], labeled_tensors: Any, size: Any, options: Any, name: Any
) -> list[LabeledTensor]:
    with name_scope(name, default) as scope:
        given = list(map(convert_to_labeled_tensor, labeled_tensors))
        found = made([each.tensor for each in given], batch_size=size, name=scope, **options)
        found = found if isinstance(found, list | tuple) else [found]
        shown = None if options["allow_smaller_final_batch"] else size
        batches = []
        for tensor, each in zip(found, given, strict=True):
            own = list(each.axes.values())
            axes = [Axis("batch", shown), *(own[1:] if options["enqueue_many"] else own)]
            batches.append(LabeledTensor(tensor, axes))
        return batches


def batch(
    labeled_tensors: Any,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Batches of tensors, along an axis `batch`."""
    options = {
        "num_threads": num_threads,
        "capacity": capacity,
        "enqueue_many": enqueue_many,
        "allow_smaller_final_batch": allow_smaller_final_batch,
    }
    return _in_batches("lt_batch", queues.batch, labeled_tensors, batch_size, options, name)


def shuffle_batch(
    labeled_tensors: Any,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> list[LabeledTensor]:
    """Batches of shuffled tensors, along an axis `batch`."""
    options = {
        "num_threads": num_threads,
        "capacity": capacity,
        "enqueue_many": enqueue_many,
        "min_after_dequeue": min_after_dequeue,
        "seed": seed,
        "allow_smaller_final_batch": allow_smaller_final_batch,
    }
    made = queues.shuffle_batch
    return _in_batches("lt_shuffle_batch", made, labeled_tensors, batch_size, options, name)


def random_crop(
    labeled_tensor: Any, shape_map: Mapping[str, int], seed: Any = None, name: str | None = None
) -> LabeledTensor:
    """A part at a random place, of the sizes given for some axes."""
    with name_scope(name, "lt_random_crop") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        for axis_name in shape_map:
            if axis_name not in given.axes:
                raise ValueError(f"Selection axis {axis_name} not in axes {given.axes}")
        axes = [
            Axis(axis.name, shape_map[axis.name]) if axis.name in shape_map else axis
            for axis in given.axes.values()
        ]
        cut = random_crop_tensor(given.tensor, list(map(len, axes)), seed=seed, name=scope)
        return LabeledTensor(cut, axes)


def map_fn(fn: Callable[..., Any], labeled_tensor: Any, name: str | None = None) -> LabeledTensor:
    """A function of every tensor along the first axis."""
    with name_scope(name, "lt_map_fn") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        first, inner = next(iter(given.axes.values())), list(given.axes.values())[1:]
        if given.dtype == dtypes.string:
            return pack([fn(part) for part in unpack(given)], first, name=scope)
        made: list[Axes] = []

        def mapped(tensor: Tensor) -> Tensor:
            found = convert_to_labeled_tensor(fn(LabeledTensor(tensor, inner)))
            made.append(found.axes)
            return found.tensor

        like = fn(unpack(given)[0])
        results = functional.map_fn(mapped, given.tensor, dtype=like.dtype)
        whole = LabeledTensor(results, [first, *like.axes.values()])
        return identity(whole, name=scope)


def foldl(
    fn: Callable[..., Any], labeled_tensor: Any, initial_value: Any, name: str | None = None
) -> LabeledTensor:
    """A function of what was found so far and of the next tensor along the first axis."""
    with name_scope(name, "lt_foldl") as scope:
        given, start = map(convert_to_labeled_tensor, (labeled_tensor, initial_value))
        inner = list(given.axes.values())[1:]

        def step(known: Tensor, tensor: Tensor) -> Tensor:
            return fn(LabeledTensor(known, start.axes), LabeledTensor(tensor, inner)).tensor

        found = functional.foldl(step, given.tensor, initializer=start.tensor)
        return identity(LabeledTensor(found, start.axes), name=scope)


def squeeze(labeled_tensor: Any, axis_names: Any = None, name: str | None = None) -> LabeledTensor:
    """Without axes of size 1: those given, or all."""
    with name_scope(name, "lt_squeeze") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        if axis_names is None:
            axis_names = [axis.name for axis in given.axes.values() if len(axis) == 1]
        for each in axis_names:
            if each not in given.axes:
                raise ValueError(f"axis {each} is not in tensor axes {given.axes}")
            if len(given.axes[each]) != 1:
                raise ValueError(
                    f"cannot squeeze axis with size greater than 1: ({each}, {given.axes[each]})"
                )
        places = [place for place, each in enumerate(given.axes) if each in axis_names]
        kept = [axis for each, axis in given.axes.items() if each not in axis_names]
        if not places:
            return LabeledTensor(array.identity(given.tensor, name=scope), kept)
        return LabeledTensor(array.squeeze(given.tensor, places, name=scope), kept)


def _check_product(a: LabeledTensor, b: LabeledTensor) -> str:
    """The axis that a product sums over."""
    ranks = f"{len(a.axes)!r} and {len(b.axes)!r}"
    if max(len(a.axes), len(b.axes)) > 2:
        raise NotImplementedError(
            f"matmul currently requires inputs with rank 2 or less, but inputs have ranks {ranks}"
        )
    if not a.axes or not b.axes:
        raise ValueError(
            f"matmul currently requires inputs with at least rank 1, but inputs have ranks {ranks}"
        )
    shared = set(a.axes) & set(b.axes)
    if len(shared) > 1:
        raise NotImplementedError(
            f"matmul does not yet support summing over multiple shared axes: {shared!r}. Use "
            "transpose and reshape to create a single shared axis to sum over."
        )
    if not shared:
        raise ValueError(
            "there must have exactly one axis in common between input to matmul: "
            f"{a.axes.keys()!r}, {b.axes.keys()!r}"
        )
    (axis,) = shared
    if a.axes[axis] != b.axes[axis]:
        raise ValueError(
            f"axis {axis!r} does not match on input arguments: {a.axes[axis].value!r} vs "
            f"{b.axes[axis].value!r}"
        )
    return axis


def matmul(a: Any, b: Any, name: str | None = None) -> LabeledTensor:
    """The product of two tensors, summed over the axis that they have in common."""
    with name_scope(name, "lt_matmul") as scope:
        left, right = map(convert_to_labeled_tensor, (a, b))
        shared = _check_product(left, right)
        axes = [*left.axes.remove(shared).values(), *right.axes.remove(shared).values()]
        order = get_axis_order()
        names = [axis.name for axis in axes]
        if order is not None and names != [each for each in order if each in names]:
            left, right, axes = right, left, axes[::-1]
        rows = left.tensor[None] if len(left.axes) == 1 else left.tensor
        columns = right.tensor[:, None] if len(right.axes) == 1 else right.tensor
        found = matmul_tensors(
            rows, columns,
            transpose_a=len(left.axes) == 2 and next(iter(left.axes)) == shared,
            transpose_b=len(right.axes) == 2 and list(right.axes)[1] == shared,
        )  # fmt: skip
        gone = [place for place, each in enumerate((left, right)) if len(each.axes) == 1]
        found = array.squeeze(found, gone) if gone else found
        return LabeledTensor(array.identity(found, name=scope), axes)


def define_reduce_op(op_name: str, reduce_fn: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    """An operation that reduces axes: by name they go, as (name, label) they stay with size 1."""

    def op(labeled_tensor: Any, axes: Any = None, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{op_name}") as scope:
            given = convert_to_labeled_tensor(labeled_tensor)
            wanted = list(given.axes) if axes is None else axes
            wanted = [wanted] if isinstance(wanted, str | tuple) else list(wanted)
            kept: dict[str, Any] = {}
            for each in wanted:
                key, label = (each, None) if isinstance(each, str) else each
                if key not in given.axes:
                    raise ValueError(f"Axis {key} not in axes {given.axes}")
                kept[key] = Axis(key, 1 if label is None else [label])
            places = [place for place, each in enumerate(given.axes) if each in kept]
            found = reduce_fn(given.tensor, places, keepdims=True)
            small = LabeledTensor(found, [kept.get(n, axis) for n, axis in given.axes.items()])
            return squeeze(small, [n for n in wanted if isinstance(n, str)], name=scope)

    op.__name__, op.__doc__ = op_name, f"`tf.{op_name}` over axes by name, or over all."
    return op


REDUCTIONS = {
    name: define_reduce_op(name, getattr(reduce, name))
    for name in (
        "reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod "
        "reduce_sum"
    ).split()
}


def _check_known(what: str, wanted: Any, given: LabeledTensor) -> None:
    if not set(wanted) <= set(given.axes):
        raise ValueError(
            f"{what} axes {wanted.keys()!r} are not contained in the set of axis names "
            f"{given.axes!r} on the input labeled tensor"
        )


def tile(
    labeled_tensor: Any, multiples: Mapping[str, int], name: str | None = None
) -> LabeledTensor:
    """Repeated along some axes, which have no labels."""
    with name_scope(name, "lt_tile") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        _check_known("tile", multiples, given)
        labeled = [each for each in multiples if given.axes[each].labels is not None]
        if labeled:
            raise ValueError(f"cannot tile axes with tick labels: {labeled!r}")
        counts = [multiples.get(each, 1) for each in given.axes]
        axes = [axis if axis.labels is not None else n for n, axis in given.axes.items()]
        return LabeledTensor(array.tile(given.tensor, counts, name=scope), axes)


def pad(
    labeled_tensor: Any,
    paddings: Mapping[str, tuple[Any, Any]],
    mode: str = "CONSTANT",
    name: str | None = None,
) -> LabeledTensor:
    """With more at the ends of some axes: so many places, or these labels."""
    with name_scope(name, "lt_pad") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        _check_known("pad", paddings, given)
        edges, axes = [], []
        for each, axis in given.axes.items():
            ends = [Axis("padding", end) for end in paddings.get(each, (0, 0))]
            edges.append(list(map(len, ends)))
            if each not in paddings:
                axes.append(axis)
                continue
            named = [Axis(each, end.value) for end in ends]
            axes.append(concat_axes([named[0], axis, named[1]]))
        return LabeledTensor(pad_tensor(given.tensor, edges, mode, name=scope), axes)


def constant(
    value: Any, dtype: Any = None, axes: Any = None, name: str | None = None
) -> LabeledTensor:
    """A constant, of a number or of an array with axes."""
    with name_scope(name, "lt_constant") as scope:
        axes = [] if axes is None else axes
        if isinstance(value, int | float | bool | str | bytes) and axes:
            shape = [len(as_axis(axis)) for axis in axes]
            return LabeledTensor(constant_node(value, dtype, shape, name=scope), axes)
        return LabeledTensor(constant_node(value, dtype, name=scope), axes)


def _like(default: str, made: Callable[..., Any]) -> Callable[..., LabeledTensor]:
    def op(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
        with name_scope(name, f"lt_{default}") as scope:
            given = convert_to_labeled_tensor(labeled_tensor)
            return LabeledTensor(made(given.tensor, dtype=dtype, name=scope), given.axes)

    op.__name__, op.__doc__ = default, f"`tf.{default}` with the axes of another tensor."
    return op


zeros_like, ones_like = _like("zeros_like", array.zeros_like), _like("ones_like", array.ones_like)


def cast(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> LabeledTensor:
    """The values in another type."""
    with name_scope(name, "lt_cast") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(casts.cast(given.tensor, dtype=dtype, name=scope), given.axes)


def verify_tensor_all_finite(
    labeled_tensor: Any, message: str, name: str | None = None
) -> LabeledTensor:
    """The same values, which must be finite."""
    with name_scope(name, "lt_verify_tensor_all_finite") as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(verify_finite(given.tensor, msg=message, name=scope), given.axes)


def boolean_mask(labeled_tensor: Any, mask: Any, name: str | None = None) -> LabeledTensor:
    """The tensors along the first axis where a mask is true."""
    with name_scope(name, "lt_boolean_mask") as scope:
        given, chosen = map(convert_to_labeled_tensor, (labeled_tensor, mask))
        if len(chosen.axes) > 1:
            raise NotImplementedError(
                "LabeledTensor's boolean_mask currently only supports 1D masks"
            )
        axis, wanted = next(iter(given.axes.values())), next(iter(chosen.axes.values()))
        if axis != wanted:
            raise ValueError(
                f"the first axis of the labeled tensor and the mask are not equal:\n{axis!r}\n"
                f"{wanted!r}"
            )
        found = selecting.boolean_mask(given.tensor, chosen.tensor, name=scope)
        return LabeledTensor(found, [axis.name, *list(given.axes.values())[1:]])


def where(condition: Any, x: Any, y: Any, name: str | None = None) -> LabeledTensor:
    """The elements of `x` where a condition holds, of `y` elsewhere; all with the same axes."""
    with name_scope(name, "lt_where") as scope:
        given = [convert_to_labeled_tensor(each) for each in (condition, x, y)]
        if given[0].axes != given[1].axes or given[1].axes != given[2].axes:
            raise ValueError("all inputs to `where` must have equal axes")
        kept, left, right = (each.tensor for each in given)
        found = selecting.where(kept, left, right, name=scope)
        return LabeledTensor(found, given[0].axes)


class ReshapeCoder:
    """Axes of a tensor as others, and back again; both know the rest by name."""

    def __init__(self, existing_axis_names: Any, new_axes: Any, name: str | None = None) -> None:
        self._old, self._new, self._name = list(existing_axis_names), list(new_axes), name
        self._kept: list[Axis] | None = None

    def encode(self, labeled_tensor: Any) -> LabeledTensor:
        """With the new axes."""
        given = convert_to_labeled_tensor(labeled_tensor)
        self._kept = list(map(given.axes.__getitem__, self._old))
        return self._reshaped("encode", given, self._old, self._new)

    def decode(self, labeled_tensor: Any) -> LabeledTensor:
        """With the axes that were there when it was encoded."""
        if self._kept is None:
            raise ValueError("decode called before encode")
        names = [each if isinstance(each, str) else as_axis(each).name for each in self._new]
        return self._reshaped("decode", labeled_tensor, names, self._kept)

    def _reshaped(self, way: str, given: Any, before: list[Any], after: list[Any]) -> LabeledTensor:
        with name_scope(self._name, f"lt_reshape_{way}") as scope:
            return reshape(given, before, after, name=scope)
