"""Labeled tensors from serialized examples, and labeled placeholders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.graph.graph import name_scope
from weft.lib.contrib.labeled_tensor.core import (
    Axes,
    LabeledTensor,
    as_axis,
    convert_to_labeled_tensor,
)
from weft.ops.array import placeholders
from weft.ops.parsing import features as parsing


class FixedLenFeature:
    """A feature of examples whose axes are known.

    Args:
        axes: of the feature; all sizes must be known.
        dtype: of its values.
        default_value: for examples that lack it.
    """

    def __init__(self, axes: Sequence[Any], dtype: Any, default_value: Any = None) -> None:
        self.axes = [as_axis(axis) for axis in axes]
        self.dtype, self.default_value = dtype, default_value


def _plain(features: Mapping[str, FixedLenFeature]) -> dict[str, Any]:
    found = {}
    for name, feature in features.items():
        shape = [axis.size for axis in feature.axes]
        if None in shape:
            raise ValueError("axes with unknown size are not supported")
        found[name] = parsing.FixedLenFeature(shape, feature.dtype, feature.default_value)
    return found


def _parser(parse: Callable[..., Mapping[str, Any]], doc: str) -> Callable[..., Any]:
    """A function that parses by `parse`; the axes of what is serialized come before others."""

    def parsed(
        serialized: Any,
        features: Mapping[str, FixedLenFeature],
        name: str | None = None,
        example_names: Any = None,
    ) -> dict[str, LabeledTensor]:
        texts = convert_to_labeled_tensor(serialized)
        outer = list(texts.axes.values())
        found = parse(texts.tensor, _plain(features), name, example_names)
        return {key: LabeledTensor(found[key], outer + features[key].axes) for key in found}

    parsed.__name__ = parsed.__qualname__ = parse.__name__
    parsed.__doc__ = doc
    return parsed


parse_example = _parser(
    parsing.parse_example,
    "Features of serialized examples, with the axes of the examples before their own.",
)
parse_single_example = _parser(parsing.parse_single_example, "Features of one serialized example.")


def placeholder(dtype: Any, axes: Sequence[Any], name: str | None = None) -> LabeledTensor:
    """A placeholder whose axes are known; one that is only a name has any size."""
    sized = Axes([(axis, None) if isinstance(axis, str) else axis for axis in axes])
    with name_scope(name, "lt_placeholder", []) as scope:
        fed = placeholders.placeholder(dtype, [sized[key].size for key in sized], scope)
    return LabeledTensor(fed, sized)
