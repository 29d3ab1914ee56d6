# Written by `make stubs` from weft/api/keras/models.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.engine.cloning import clone_model as clone_model
from weft.lib.keras.engine.sequential import Sequential as Sequential
from weft.lib.keras.engine.training import Model as Model
from weft.lib.keras.saving.model_config import model_from_config as model_from_config
from weft.lib.keras.saving.model_config import model_from_json as model_from_json
from weft.lib.keras.saving.model_config import model_from_yaml as model_from_yaml
from weft.lib.keras.saving.save import load_model as load_model
from weft.lib.keras.saving.save import save_model as save_model
