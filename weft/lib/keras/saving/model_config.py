"""Models from their configurations: as dictionaries, as JSON, as YAML."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.saving.model_text import not_too_deep, parse_json, parse_yaml
from weft.lib.keras.utils.safe_mode import safe_mode_scope

# What later versions of Keras call a model of layers.
_RENAMED = {"Functional": "Model"}
# Settings that later versions have, with the value that means what this one does.
_LATER = {"groups": 1, "keepdims": False}
_LATER_OF_MODELS = ("trainable",)


def _as_of_this_version(config: Any) -> Any:
    """A configuration that a later version wrote, as far as it says nothing new."""
    if isinstance(config, list):
        return [_as_of_this_version(each) for each in config]
    if not isinstance(config, dict):
        return config
    plain = {
        key: _as_of_this_version(value)
        for key, value in config.items()
        if key != "shared_object_id" and not (key in _LATER and value == _LATER[key])
    }
    if "class_name" in plain and "config" in plain:
        plain["class_name"] = _RENAMED.get(plain["class_name"], plain["class_name"])
    if isinstance(plain.get("layers"), list):
        plain = {key: value for key, value in plain.items() if key not in _LATER_OF_MODELS}
    return plain


def model_from_config(
    config: Any, custom_objects: Any = None, *, safe_mode: bool | None = None
) -> Any:
    """The model that `config` describes, with new weights.

    With `safe_mode`, as by default, code of Lambda layers that others wrote is refused.
    """
    from weft.lib.keras.layers.serialization import deserialize

    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    with safe_mode_scope(safe_mode):
        return not_too_deep(
            lambda: deserialize(_as_of_this_version(config), custom_objects=custom_objects)
        )


def model_from_json(
    json_string: str, custom_objects: Any = None, *, safe_mode: bool | None = None
) -> Any:
    """The model that `to_json` was called on, with new weights."""
    return model_from_config(parse_json(json_string), custom_objects, safe_mode=safe_mode)


def model_from_yaml(
    yaml_string: str, custom_objects: Any = None, *, safe_mode: bool | None = None
) -> Any:
    """The model that `to_yaml` was called on, with new weights."""
    return model_from_config(parse_yaml(yaml_string), custom_objects, safe_mode=safe_mode)
