"""tf.keras.models: public names, re-exported from where they are made."""

from weft.lib.keras.engine.cloning import clone_model as clone_model
from weft.lib.keras.engine.sequential import Sequential as Sequential
from weft.lib.keras.engine.training import Model as Model
from weft.lib.keras.saving.model_config import (
    model_from_config as model_from_config,
    model_from_json as model_from_json,
    model_from_yaml as model_from_yaml,
)
from weft.lib.keras.saving.save import load_model as load_model, save_model as save_model
