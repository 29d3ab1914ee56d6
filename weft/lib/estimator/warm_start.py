"""The source of an Estimator's variables when there is no checkpoint of its own."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.warm_start import warm_start
from weft.storage import file_io


class _WarmStartSettings(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: Any = None
    var_name_to_prev_var_name: Any = None


class WarmStartSettings(_WarmStartSettings):
    """A checkpoint to begin with, and what to take from it; the arguments of `warm_start`."""

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Any = None,
        var_name_to_prev_var_name: Any = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """Settings as given, or those for a checkpoint, a folder of them, or a SavedModel."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}"
        )
    variables = os.path.join(os.fsdecode(warm_start_from), "variables", "variables")
    if file_io.exists(variables + ".index"):
        logging.info("Warm-starting from a SavedModel")
        return WarmStartSettings(ckpt_to_initialize_from=variables)
    return WarmStartSettings(ckpt_to_initialize_from=os.fsdecode(warm_start_from))


def start_warm(settings: WarmStartSettings) -> None:
    """Makes the variables of the default graph begin with what the settings name."""
    logging.info("Warm-starting with WarmStartSettings: %s", settings)
    warm_start(*settings)
