"""Predictions as a caller of `predict` gets them: some of them, example by example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def selected(predictions: Any, predict_keys: Any) -> Any:
    if not predict_keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    chosen = {key: predictions[key] for key in predictions if key in predict_keys}
    if chosen:
        return chosen
    raise ValueError(
        f"Expected to run at least one output from {predictions.keys()}, provided {predict_keys}."
    )


def examples(batch: Any) -> Iterator[Any]:
    """The predictions of a batch, one example after the other."""
    if not isinstance(batch, dict):
        yield from batch
        return
    length = None
    for key, value in batch.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length "
                "than others."
            )
    for index in range(length or 0):
        yield {key: value[index] for key, value in batch.items()}
