"""Stochastic dual coordinate ascent: linear models trained one example at a time, exactly.

Weights are those of the primal problem before shrinking by L1. What an operation gives is by how
much they change; `SdcaShrinkL1` shrinks them at the end.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, HOST_STATE, NO_GRADIENT
from weft.ops.kit.city_hash import city_hash_128
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import elements
from weft.ops.trees.sdca_losses import LOSSES, Loss

Array = np.ndarray


def _shrunk(weights: Array, by: float) -> Array:
    return np.sign(weights) * np.maximum(np.abs(weights) - by, 0)


@dataclass
class Example:
    """One row: for each group of features their places among its weights, and their values."""

    places: list[Array]
    values: list[Array]

    @property
    def squared_norm(self) -> float:
        return float(sum(np.dot(v, v) for v in self.values))


class Model:
    """Weights by group of features, and what is to be added to them."""

    def __init__(self, weights: list[Array], shrink_by: float, partitions: int) -> None:
        self.weights = [np.asarray(w, np.float64).reshape(-1) for w in weights]
        self.deltas = [np.zeros_like(w) for w in self.weights]
        self.shrink_by, self.partitions = shrink_by, partitions

    def said(self, example: Example, before: bool = False) -> float:
        """The model's prediction for an example; `before`: with the initial weights."""
        total = 0.0
        for w, d, at, x in zip(
            self.weights, self.deltas, example.places, example.values, strict=True
        ):
            now = w[at] if before else w[at] + d[at] * self.partitions
            total += float(np.dot(x, _shrunk(now, self.shrink_by)))
        return total

    def move(self, example: Example, by: float) -> None:
        for d, at, x in zip(self.deltas, example.places, example.values, strict=True):
            d[at] += x * by


# ---- what the inputs say -------------------------------------------------------------------------


def _sparse_rows(ids: Array, features: Array, values: Array, known: Array, count: int) -> Any:
    """For each example, places of its features among `known` ones, and their values."""
    order = np.argsort(known, kind="stable")
    found = np.searchsorted(known, features, sorter=order)
    at = order[np.minimum(found, len(known) - 1)] if len(known) else np.zeros_like(features)
    missing = known[at] != features if len(known) else np.ones(len(features), bool)
    if missing.any():
        raise invalid(
            f"Found sparse feature indices out of valid range: {int(features[missing][0])}"
        )
    ends = np.searchsorted(ids, np.arange(count + 1))
    for i in range(count):
        row = slice(ends[i], ends[i + 1])
        if len(np.unique(at[row])) != ends[i + 1] - ends[i]:
            raise invalid("Duplicate index in sparse vector.")
        yield at[row], values[row]


def _dense_rows(features: Array, weights: Array) -> Any:
    if features.shape[1] > weights.size:
        raise invalid(f"More dense features than we have parameters for: {features.shape[1]}")
    at = np.arange(features.shape[1])
    for row in features:
        yield at, row.astype(np.float64)


def _examples(
    ids: list[Array], features: list[Array], values: list[Array], known: list[Array],
    dense: list[Array], dense_weights: list[Array], count: int,
) -> list[Example]:  # fmt: skip
    groups = []
    for j, (own_ids, own) in enumerate(zip(ids, features, strict=True)):
        if own_ids.shape != own.shape:
            raise invalid(
                f"Found mismatched example_indices and feature_indices {own_ids} vs {own}"
            )
        given = values[j] if j < len(values) else np.ones(len(own))
        groups.append(_sparse_rows(own_ids, own, given.astype(np.float64), known[j], count))
    groups += [_dense_rows(x, w) for x, w in zip(dense, dense_weights, strict=True)]
    rows = zip(*groups, strict=True)
    return [Example([at for at, _ in row], [x for _, x in row]) for row in rows]


# ---- training ------------------------------------------------------------------------------------


def _adaptive_order(
    examples: list[Example], weights: Array, labels: list[float], duals: Array, model: Model,
    loss: Loss, l2: float, random: np.random.Generator,
) -> Array:  # fmt: skip
    """Examples by how far they are from their best, each no more than now and then twice."""
    gaps = np.array([
        abs(dual + loss.derivative(model.said(example), label))
        for example, label, dual in zip(examples, labels, duals, strict=True)
    ])  # fmt: skip
    norms = np.array([example.squared_norm for example in examples])
    odds = weights * np.sqrt(norms + l2 * loss.smoothness) * gaps
    count = len(examples)
    if not odds.sum() > 0:
        return random.permutation(count)
    times = np.zeros(count, int)
    order: list[int] = []
    for picked in random.choice(count, 2 * count, p=odds / odds.sum()):
        if len(order) < count and random.random() <= 0.1 ** times[picked]:
            times[picked] += 1
            order.append(int(picked))
    unseen = sorted(np.flatnonzero(times == 0), key=lambda i: -odds[i])
    return np.array([*order, *unseen][:count])


def _trained(
    examples: list[Example], weights: Array, given_labels: Array, state: Array, model: Model,
    loss: Loss, l2: float, adaptive: bool,
) -> Array:  # fmt: skip
    """One pass; the new state: of each example its dual variable, both losses and its weight."""
    labels = [loss.label(float(label)) for label in given_labels]
    before = [model.said(example, before=True) for example in examples]
    out = np.array(state)
    # Another order in each pass, but the same one if a program is run again.
    random = np.random.default_rng(zlib.crc32(state.tobytes()))
    order = (
        _adaptive_order(examples, weights, labels, state[:, 0], model, loss, l2, random)
        if adaptive else random.permutation(len(examples))
    )  # fmt: skip
    for i in order:
        example, label, weight = examples[i], labels[i], float(weights[i])
        dual = float(out[i, 0])
        curvature = _quotient(model.partitions * example.squared_norm, l2) * weight
        new = loss.new_dual(label, dual, model.said(example), curvature)
        model.move(example, _quotient((new - dual) * weight, l2))
        losses = loss.primal_loss(before[i], label), loss.dual_loss(dual, label)
        out[i] = new, losses[0] * weight, _float(losses[1] * weight), weight
    return out


def _quotient(a: float, b: float) -> float:
    """As C divides: by zero, too."""
    if b:
        return a / b
    return math.nan if not a or a != a else math.copysign(math.inf, a)


def _float(value: float) -> float:
    """Numbers too large for 32 bits become infinite, without a warning."""
    return float(np.copysign(np.inf, value)) if abs(value) >= 3e38 else value


def _sdca_shape(c: ShapeContext) -> list[Dims]:
    sparse, values = c.attr("num_sparse_features"), c.attr("num_sparse_features_with_values")
    dense = c.attr("num_dense_features")
    state = 2 * sparse + values + dense + 2 + 2 * sparse + dense
    weights = range(state - sparse - dense, state)
    return [(None, 4), *(c.dims(i) for i in weights)]


def _optimizer(name: str, adaptive_attr: str) -> Any:
    @op(
        name,
        inputs="sparse_example_indices: num_sparse_features * int64,"
        " sparse_feature_indices: num_sparse_features * int64,"
        " sparse_feature_values: num_sparse_features_with_values * float,"
        " dense_features: num_dense_features * float, example_weights: float,"
        " example_labels: float, sparse_indices: num_sparse_features * int64,"
        " sparse_weights: num_sparse_features * float,"
        " dense_weights: num_dense_features * float, example_state_data: float",
        outputs="out_example_state_data: float,"
        " out_delta_sparse_weights: num_sparse_features * float,"
        " out_delta_dense_weights: num_dense_features * float",
        attrs='loss_type: {"logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss",'
        f' "poisson_loss"}}, {adaptive_attr}: bool = false, num_sparse_features: int >= 0,'
        " num_sparse_features_with_values: int >= 0, num_dense_features: int >= 0, l1: float,"
        " l2: float, num_loss_partitions: int >= 1, num_inner_iterations: int >= 1",
        shape=_sdca_shape, traits=HOST | NO_GRADIENT,
    )  # fmt: skip
    def optimize(
        xp: Any, ctx: Any, sparse_example_indices: list[Array],
        sparse_feature_indices: list[Array], sparse_feature_values: list[Array],
        dense_features: list[Array], example_weights: Array, example_labels: Array,
        sparse_indices: list[Array], sparse_weights: list[Array], dense_weights: list[Array],
        example_state_data: Array, *, loss_type: str, l1: float, l2: float,
        num_loss_partitions: int,
    ) -> list[Array]:  # fmt: skip
        count, labels = example_weights.size, example_labels.reshape(-1)
        if labels.size != count:
            raise invalid(f"Expected {count} example labels but got {labels.size}")
        if example_state_data.shape != (count, 4):
            raise invalid(
                f"Expected shape [{count},4] for example_state_data, got"
                f" {s.show(example_state_data.shape)}"
            )
        weights = [*sparse_weights, *dense_weights]
        if not weights:
            raise invalid("Requires at least one feature to train.")
        model = Model(weights, _quotient(l1, l2), num_loss_partitions)
        examples = _examples(
            sparse_example_indices, sparse_feature_indices, sparse_feature_values,
            sparse_indices, dense_features, dense_weights, count,
        )  # fmt: skip
        state = _trained(
            examples, example_weights.reshape(-1), labels, example_state_data, model,
            LOSSES[loss_type], l2, ctx.node.attrs[adaptive_attr],
        )  # fmt: skip
        pairs = zip(model.deltas, weights, strict=True)
        return [state, *(d.astype(np.float32).reshape(w.shape) for d, w in pairs)]

    return optimize


sdca_optimizer_ = _optimizer("SdcaOptimizer", "adaptative")
sdca_optimizer_v2_ = _optimizer("SdcaOptimizerV2", "adaptive")


# ---- around it -----------------------------------------------------------------------------------


@op(
    "SdcaShrinkL1", inputs="weights: ref(num_features * float)",
    attrs="num_features: int >= 0, l1: float, l2: float", shape=s.none,
    traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def sdca_shrink_l1_(xp: Any, weights: list[Any], *, l1: float, l2: float) -> None:
    for cell in weights:
        cell.write(_shrunk(cell.read(), float(np.float32(l1 / l2))).astype(np.float32))


def _fingerprint_shape(c: ShapeContext) -> Dims:
    return (*s.with_rank(c.dims(0), 1), 2)


@op("SdcaFprint", inputs="input: string", outputs="output: int64", shape=_fingerprint_shape,
    traits=HOST | NO_GRADIENT)  # fmt: skip
def sdca_fprint_(xp: Any, input: Array) -> Array:
    """128 bits of each string. The first half is never 0 or 1, which tables may use."""
    if np.ndim(input) != 1:
        raise invalid(f"Input must be a vector, got shape {s.show(np.shape(input))}")
    found = np.zeros((len(input), 2), np.uint64)
    for row, text in zip(found, elements(input), strict=True):
        low, high = city_hash_128(text)
        row[:] = (low if low >= 2 else low + 2**64 - 2), high
    return found.view(np.int64)


# ---- public names --------------------------------------------------------------------------------


def sdca_optimizer(
    sparse_example_indices: Any, sparse_feature_indices: Any, sparse_feature_values: Any,
    dense_features: Any, example_weights: Any, example_labels: Any, sparse_indices: Any,
    sparse_weights: Any, dense_weights: Any, example_state_data: Any, loss_type: str, l1: float,
    l2: float, num_loss_partitions: int, num_inner_iterations: int, adaptative: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(state, changes of sparse weights, changes of dense weights) of one pass over examples."""
    return sdca_optimizer_(
        sparse_example_indices, sparse_feature_indices, sparse_feature_values, dense_features,
        example_weights, example_labels, sparse_indices, sparse_weights, dense_weights,
        example_state_data, loss_type=loss_type, l1=l1, l2=l2,
        num_loss_partitions=num_loss_partitions, num_inner_iterations=num_inner_iterations,
        adaptative=adaptative, name=name,
    )  # fmt: skip


def sdca_shrink_l1(weights: Any, l1: float, l2: float, name: str | None = None) -> Any:
    """Weights moved toward zero by l1 / l2."""
    return sdca_shrink_l1_(weights, l1=l1, l2=l2, name=name)


def sdca_fprint(input: Any, name: str | None = None) -> Any:
    """128 bits of each string, in two numbers."""
    return sdca_fprint_(input, name=name)
