"""Strategies that export a SavedModel after evaluations."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.layers.feature_parsing import create_feature_spec_for_parsing
from weft.lib.contrib.learn.experiment import ExportStrategy as ExportStrategy
from weft.lib.contrib.learn.experiment import make_export_strategy as make_export_strategy
from weft.lib.contrib.learn.utils.input_fn_utils import build_parsing_serving_input_fn
from weft.lib.estimator.receivers import build_parsing_serving_input_receiver_fn


def make_parsing_export_strategy(
    feature_columns: Any,
    default_output_alternative_key: Any = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """`make_export_strategy` for models that are fed serialized examples with these columns."""
    spec = create_feature_spec_for_parsing(feature_columns)
    build = (
        build_parsing_serving_input_receiver_fn if target_core else build_parsing_serving_input_fn
    )
    return make_export_strategy(
        build(spec),
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )
