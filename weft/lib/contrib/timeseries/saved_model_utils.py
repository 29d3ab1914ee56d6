"""Calls of exported models of time series: values in, a state out, and predictions from it."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.timeseries.head import state_to_dictionary
from weft.lib.contrib.timeseries.inputs import later_times
from weft.lib.contrib.timeseries.keys import STATE_TUPLE, TIMES, SavedModelLabels
from weft.lib.contrib.timeseries.readers import in_batches


def predict_continuation(
    continue_from: dict[str, Any],
    signatures: Any,
    session: Any,
    steps: int | None = None,
    times: Any = None,
    exogenous_features: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Predictions at later times, from what an evaluation or a filter returned.

    Args:
        continue_from: what was returned.
        signatures: the MetaGraphDef of the exported model.
        session: with the exported model loaded.
        steps: how many times after the last one are predicted.
        times: the times themselves, instead of their number.
        exogenous_features: further features of these times.
    """
    features = {TIMES: later_times(continue_from, steps, times), **(exogenous_features or {})}
    return _called(SavedModelLabels.PREDICT, signatures, session, features, continue_from)


def cold_start_filter(signatures: Any, session: Any, features: dict[str, Any]) -> dict[str, Any]:
    """The state after a series, from the start state of the model."""
    given = in_batches(features)
    return _called(SavedModelLabels.COLD_START_FILTER, signatures, session, given, {})


def filter_continuation(
    continue_from: dict[str, Any], signatures: Any, session: Any, features: dict[str, Any]
) -> dict[str, Any]:
    """The state after more of a series, from what an evaluation or a filter returned."""
    given = in_batches(features)
    return _called(SavedModelLabels.FILTER, signatures, session, given, continue_from)


def _called(
    label: str, signatures: Any, session: Any, features: dict[str, Any], before: dict[str, Any]
) -> dict[str, Any]:
    """The outputs of a signature, and the times, by which another call goes on."""
    signature = signatures.signature_def[label]
    state = state_to_dictionary(before[STATE_TUPLE]) if STATE_TUPLE in before else before
    inputs = {name: info.name for name, info in signature.inputs.items()}
    kept = {name: value for name, value in state.items() if name != TIMES}
    feeds = {inputs[name]: value for name, value in {**kept, **features}.items()}
    fetches = {name: info.name for name, info in signature.outputs.items()}
    return {**session.run(fetches, feeds), TIMES: features[TIMES]}
