"""Masks of weights, and the collections that list them."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import add_to_collection, get_collection
from weft.graph.tensor import Tensor
from weft.ops.math import math
from weft.ops.nn.zero_fraction import zero_fraction
from weft.ops.state.get_variable import get_variable
from weft.ops.state.initializers import ones_initializer, zeros_initializer
from weft.ops.state.variable_scope import variable_scope

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
# Rewrites for quantization know weights by this name.
MASKED_WEIGHT_NAME = "weights/masked_weight"

# What a mask and a threshold are made with, for `get_variable` and for layers.
VARIABLES: dict[str, dict[str, Any]] = {
    "mask": {"initializer": ones_initializer(), "trainable": False},
    "threshold": {"initializer": zeros_initializer(), "trainable": False},
}


def masked(mask: Any, weights: Any, threshold: Any) -> Tensor:
    """The weights that the mask leaves; all of them listed, once per mask."""
    product = math.multiply(mask, weights, MASKED_WEIGHT_NAME)
    if not any(each is mask for each in get_masks()):
        listed = {
            THRESHOLD_COLLECTION: threshold,
            MASK_COLLECTION: mask,
            MASKED_WEIGHT_COLLECTION: product,
            WEIGHT_COLLECTION: weights,
        }
        for name, value in listed.items():
            add_to_collection(name, value)
    return product


def apply_mask(x: Any, scope: Any = "") -> Tensor:
    """The weights `x` times a new variable, a mask of ones."""
    made = []
    for name, shape in (("mask", x.get_shape()), ("threshold", [])):
        with variable_scope(scope):
            made.append(get_variable(name, shape, dtype=x.dtype, **VARIABLES[name]))
    mask, threshold = made
    return masked(mask, x, threshold)


def get_masked_weights() -> list[Any]:
    """The products of weights and masks."""
    return get_collection(MASKED_WEIGHT_COLLECTION)


def get_masks() -> list[Any]:
    """The masks of the graph, one for each pruned weight."""
    return get_collection(MASK_COLLECTION)


def get_thresholds() -> list[Any]:
    """The sizes below which weights are masked."""
    return get_collection(THRESHOLD_COLLECTION)


def get_weights() -> list[Any]:
    """The weights that have masks."""
    return get_collection(WEIGHT_COLLECTION)


def get_weight_sparsity() -> list[Tensor]:
    """How much of each mask is zero."""
    return [zero_fraction(mask) for mask in get_masks()]
