"""Calls one layer and tells all there is to see; runs in TensorFlow and in weft alike."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Sample:
    """A layer, made by `make` from a namespace of layers, and what it is called on.

    In `shapes` None says that a size is not known when the layer is called. `phases` are those
    in which the outputs are looked at: 1 is training, after which updates are looked at too.
    """

    name: str
    make: Callable[[Any], Any]
    inputs: list[np.ndarray]
    shapes: list[Any] | None = None
    masks: list[Any] | None = None
    phases: tuple[int, ...] = (0,)
    call: dict[str, Any] = field(default_factory=dict)


def values_for(sample: Sample, weights: list[Any]) -> list[np.ndarray]:
    """Weights that are the same everywhere."""
    random = np.random.RandomState(zlib.crc32(sample.name.encode()))
    made = []
    for weight in weights:
        value = random.randn(*weight.shape.as_list()) * 0.5
        spread = "variance" in weight.name or "stddev" in weight.name
        made.append(np.abs(value) + 0.5 if spread else value)
    return made


def placeholders(tf: Any, sample: Sample) -> list[Any]:
    shapes = sample.shapes or [(None, *x.shape[1:]) for x in sample.inputs]
    made = [tf.placeholder(x.dtype, s) for x, s in zip(sample.inputs, shapes, strict=True)]
    for x, mask in zip(made, sample.masks or [], strict=False):
        if mask is not None:
            x._keras_mask = tf.constant(mask)
    return made


def observe(tf: Any, sample: Sample) -> dict[str, Any]:
    """What the layer has made, and computes; arrays under `values`."""
    layer = sample.make(tf.keras.layers)
    inputs = placeholders(tf, sample)
    output = layer(inputs if len(inputs) > 1 else inputs[0], **sample.call)
    mask = getattr(output, "_keras_mask", None)
    shape = [tuple(x.shape.as_list()) for x in inputs]
    computed = layer.compute_output_shape(
        [tf.TensorShape(s) for s in shape] if len(shape) > 1 else tf.TensorShape(shape[0])
    )
    seen = {
        "name": output.name,
        "weights": {w.name: w.shape.as_list() for w in layer.weights},
        "trainable": [w.name for w in layer.trainable_weights],
        "shape": None if output.shape.ndims is None else output.shape.as_list(),
        "computed_shape": tf.TensorShape(computed).as_list(),
        "dtype": output.dtype.base_dtype.name,
        "config": json.loads(json.dumps(layer.get_config(), default=_plain)),
        "updates": len(layer.updates),
        "losses": len(layer.losses),
    }
    fetched = {"output": output, **({} if mask is None else {"mask": mask})}
    fetched |= {f"loss_{i}": loss for i, loss in enumerate(layer.losses)}
    seen["values"] = _run(tf, layer, fetched, dict(zip(inputs, sample.inputs, strict=True)), sample)
    return seen


def _run(
    tf: Any, layer: Any, fetched: Any, feed: dict[Any, Any], sample: Sample
) -> dict[str, np.ndarray]:
    found = {}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for weight, value in zip(layer.weights, values_for(sample, layer.weights), strict=True):
            weight.load(value, session)
        for at in sample.phases:
            fed = (
                feed
                if sample.phases == (0,)
                else {**feed, tf.keras.backend.learning_phase(): bool(at)}
            )
            got = session.run([fetched, layer.updates if at else []], fed)[0]
            found |= {f"{key}_{at}": value for key, value in got.items()}
        if 1 in sample.phases:
            averages = session.run(layer.non_trainable_weights)
            for weight, value in zip(layer.non_trainable_weights, averages, strict=True):
                found[f"after {weight.name}"] = value
    return found


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "items"):
        return dict(value)
    return value.as_list() if hasattr(value, "as_list") else list(value)
