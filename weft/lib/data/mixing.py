"""tf.data.experimental: datasets of random numbers, and elements of several datasets mixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import dimension_value
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.data import nest
from weft.lib.data.calls import map_
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.random_seed import get_seed
from weft.lib.data.sources import from_tensors
from weft.lib.data.structure import convert_legacy_structure, flat_tensor_shapes, flat_tensor_types
from weft.lib.data.transform import zip_
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import one_hot
from weft.ops.control.cond import cond
from weft.ops.control.printing import Print
from weft.ops.math import math
from weft.ops.random.random import random_uniform


class RandomDataset(DatasetV1Adapter):
    """Random numbers of 32 bits."""

    def __init__(self, seed: Any = None) -> None:
        spec = TensorSpec([], dtypes.int64)
        first, second = get_seed(seed)
        variant = raw.RandomDataset(
            first, second, output_types=flat_tensor_types(spec),
            output_shapes=flat_tensor_shapes(spec),
        )  # fmt: skip
        super().__init__(variant, spec)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Dataset:
    """Numbers without end."""
    from weft.lib.data.experimental_calls import scan

    with name_scope("counter"):
        given = {"start": start, "step": step}
        first, by = (convert_to_tensor(v, dtype=dtype, name=n) for n, v in given.items())
        count = scan(first, lambda number, _: (number + by, number))
        return from_tensors(0).repeat(None).apply(count)


# ---- several datasets ----------------------------------------------------------------------------


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: Any = None
) -> Dataset:
    """Elements of several datasets, each chosen at random."""
    if isinstance(weights, Dataset):
        logits = weights.map(lambda *p: raw.Log(p, name="logits"))

        def select_dataset_varying_logits(logits: Tensor, seed: Tensor) -> Tensor:
            return _chosen(logits, seed)

        choices = zip_((logits, _seeds(seed)))
        return _directed(_mapped(choices, select_dataset_varying_logits), datasets)
    known: Any = [[1.0] * len(datasets)]
    if weights is not None:
        weights = convert_to_tensor(weights, name="weights")
        _check_weights(weights, len(datasets))
        known = raw.ExpandDims(raw.Log(weights, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]

    def select_dataset_constant_logits(seed: Tensor) -> Tensor:
        return _chosen(known, seed)

    return _directed(_mapped(_seeds(seed), select_dataset_constant_logits), datasets)


def _chosen(logits: Any, seed: Tensor) -> Tensor:
    """The number of a dataset."""
    found: Tensor = raw.Squeeze(raw.StatelessMultinomial(logits, 1, seed), squeeze_dims=[0, 1])
    return found


def _seeds(seed: Any) -> Dataset:
    """Pairs of numbers without end; as all are known to be pairs, choices are made many at once."""
    pairs = RandomDataset(seed).batch(2)
    return DatasetV1Adapter(pairs._variant_tensor, TensorSpec([2], dtypes.int64), [pairs])


def _mapped(dataset: Dataset, function: Callable[..., Any]) -> Dataset:
    return map_(dataset, function, None, use_inter_op_parallelism=False)


def _check_weights(weights: Tensor, count: int) -> None:
    if weights.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements."
        )
    if not weights.shape.is_compatible_with([count]):
        raise ValueError("`weights` must be a vector of length `len(datasets)`.")


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Elements of several datasets; `choice_dataset` says of which."""
    spec = choice_dataset.element_spec
    if not (isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([], dtypes.int64))):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, datasets)


def _directed(selector: Dataset, datasets: Sequence[Dataset]) -> Dataset:
    first = datasets[0]
    shapes = nest.flatten(first.output_shapes)
    for other in datasets[1:]:
        if (other.output_types, other.output_classes) != (first.output_types, first.output_classes):
            raise TypeError("All datasets must have the same type and class.")
        pairs = zip(shapes, nest.flatten(other.output_shapes), strict=True)
        shapes = [a.most_specific_compatible_shape(b) for a, b in pairs]
    spec = convert_legacy_structure(
        first.output_types, nest.pack_sequence_as(first.output_shapes, shapes),
        first.output_classes,
    )  # fmt: skip
    variant = raw.DirectedInterleaveDataset(
        selector._variant_tensor, [each._variant_tensor for each in datasets],
        output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [selector, *datasets])


# ---- resampling ----------------------------------------------------------------------------------


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Callable[[Dataset], Dataset]:
    """Pairs (class, element), some left out, so that classes are distributed as wanted."""

    def apply(dataset: Dataset) -> Dataset:
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        if initial_dist is not None:
            known = convert_to_tensor(initial_dist, name="initial_dist")
            accept, kept = _acceptance(known, target)
            parts = [from_tensors(each).repeat() for each in (known, accept, kept)]
            initials, accepts, originals = parts
        else:
            known = None
            initials = _estimated(target, classes)
            both = initials.map(lambda initial: _acceptance(initial, target))
            accepts = both.map(lambda accept, _: accept)
            originals = both.map(lambda _, kept: kept)
        filtered = _filtered(dataset, accepts, initials, classes, seed).prefetch(3)
        share = _known_share(known, target)
        if share == 0:
            return filtered
        unfiltered = zip_((classes, dataset))
        if share == 1:
            return unfiltered
        weights = originals.map(lambda p: [(p, 1.0 - p)])
        return sample_from_datasets([unfiltered, filtered], weights, seed)

    return apply


def _known_share(initial: Tensor | None, target: Tensor) -> Any:
    """The part of elements that come unfiltered, if it is known."""
    values = None if initial is None else constant_value(initial), constant_value(target)
    return None if values[0] is None or values[1] is None else np.min(values[1] / values[0])


def _acceptance(initial: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """How likely an element of each class is kept, and the part that comes unfiltered."""
    tiny = np.finfo(initial.dtype.as_numpy_dtype).tiny
    ratios = target / (initial + tiny)
    most, least = math.reduce_max(ratios), math.reduce_min(ratios)
    return (ratios - least) / (most - least), least


def _filtered(
    dataset: Dataset, accepts: Dataset, initials: Dataset, classes: Dataset, seed: Any
) -> Dataset:
    def maybe_warn_on_large_rejection(accept: Tensor, initial: Tensor) -> Tensor:
        rejected = math.reduce_sum((1 - accept) * initial)
        message = "Proportion of examples rejected by sampler is high: "
        shown = [rejected, initial, accept]
        warn = partial(Print, accept, shown, message=message, summarize=100, first_n=10)
        return cond(rejected < 0.5, lambda: accept, warn)

    accepts = zip_((accepts, initials)).map(maybe_warn_on_large_rejection)

    def _gather_and_copy(c: Tensor, accept: Tensor, data: Any) -> Any:
        return c, gather(accept, c), data

    drawn = zip_((classes, accepts, dataset)).map(_gather_and_copy)
    kept = drawn.filter(lambda _, p, data: random_uniform([], seed=seed) < p)
    return kept.map(lambda c, _, data: (c, data))


def _estimated(target: Tensor, classes: Dataset, batch: int = 32, smoothing: int = 10) -> Dataset:
    """The distribution of classes, as far as it has been seen."""
    from weft.lib.data.experimental_calls import scan, unbatch

    count = dimension_value(target.shape[0]) or raw.Shape(target)[0]
    start = raw.Fill([count], np.int64(smoothing))

    def update_estimate_and_tile(seen: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        hot = one_hot(c, dimension_value(seen.shape[0]), dtype=dtypes.int64)
        seen = math.add(seen, math.reduce_sum(hot, 0))
        share = math.cast(math.truediv(seen, math.reduce_sum(seen)), dtypes.float32)
        return seen, raw.Tile(raw.ExpandDims(share, 0), [batch, 1])

    return classes.batch(batch).apply(scan(start, update_estimate_and_tile)).apply(unbatch())
