"""Signatures of an export: one for each set of inputs and each output."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import signature_constants, tag_constants
from weft.lib.saved_model.signatures import is_valid_signature

SINGLE_RECEIVER_DEFAULT_NAME = "input"
# The tags of the graph of each mode of an Estimator.
TAGS = {
    "train": [tag_constants.TRAINING],
    "eval": [tag_constants.EVAL],
    "infer": [tag_constants.SERVING],
}
_METHODS = {
    signature_constants.CLASSIFY_METHOD_NAME: "Classify",
    signature_constants.REGRESS_METHOD_NAME: "Regress",
    signature_constants.PREDICT_METHOD_NAME: "Predict",
    signature_constants.SUPERVISED_TRAIN_METHOD_NAME: "Train",
    signature_constants.SUPERVISED_EVAL_METHOD_NAME: "Eval",
}


def build_all_signature_defs(
    receiver_tensors: Any,
    export_outputs: Any,
    receiver_tensors_alternatives: Any = None,
    serving_only: bool = True,
) -> dict[str, Any]:
    """A signature for each set of inputs and each output, as far as they go together."""
    if not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    made: dict[str, Any] = {}
    excluded: dict[str, str] = {}
    sets = {"": receiver_tensors, **(receiver_tensors_alternatives or {})}
    for number, (receiver_name, tensors) in enumerate(sets.items()):
        if not isinstance(tensors, dict):
            tensors = {SINGLE_RECEIVER_DEFAULT_NAME: tensors}
        for key, output in export_outputs.items():
            name = f"{receiver_name or 'None'}:{key or 'None'}" if number else str(key or "None")
            try:
                made[name] = output.as_signature_def(tensors)
            except ValueError as error:
                excluded[name] = str(error)
    _report(made, excluded)
    if serving_only:
        made = {name: each for name, each in made.items() if is_valid_signature(each)}
    return made


def _report(made: dict[str, Any], excluded: dict[str, str]) -> None:
    names: dict[str, list[str]] = defaultdict(list, {method: [] for method in _METHODS})
    for name, signature in made.items():
        names[signature.method_name].append(name)
    for method, found in names.items():
        shown = found if found else "None"
        logging.info(f"Signatures INCLUDED in export for {_METHODS.get(method, method)}: {shown}")
    if excluded:
        logging.info(
            "Signatures EXCLUDED from export because they cannot be be served via TensorFlow "
            "Serving APIs:"
        )
    for name, reason in excluded.items():
        logging.info(f"'{name}' : {reason}")
    if not made:
        logging.warning("Export includes no signatures!")
    elif signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY not in made:
        logging.warning("Export includes no default signature!")
