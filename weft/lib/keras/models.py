"""tf.keras.models: models, copies of them, and models from files and configurations."""

from __future__ import annotations

from weft.lib.keras.engine.cloning import (  # noqa: F401
    _clone_functional_model,
    _clone_sequential_model,
    clone_and_build_model,
    clone_model,
    in_place_subclassed_model_state_restoration,
    share_weights,
)
from weft.lib.keras.engine.input_layer import Input, InputLayer  # noqa: F401
from weft.lib.keras.engine.sequential import Sequential  # noqa: F401
from weft.lib.keras.engine.training import Model  # noqa: F401
from weft.lib.keras.saving.model_config import model_from_config, model_from_json, model_from_yaml  # noqa: F401
from weft.lib.keras.saving.save import load_model, save_model  # noqa: F401
