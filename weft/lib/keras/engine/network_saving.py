"""Models in files and as text; how that is done is said in `weft/lib/keras/saving`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import Dimension, TensorShape

KERAS_VERSION = "2.2.4-tf"


class NetworkSaving:
    built: bool
    get_config: Callable[[], dict[str, Any]]

    def save(
        self,
        filepath: Any,
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: str | None = None,
        signatures: Any = None,
    ) -> None:
        """Writes the model: its layers, its weights, and its optimizer with what that remembers."""
        from weft.lib.keras.saving.save import save_model

        save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, save_format: str | None = None
    ) -> None:
        """Writes the weights, as HDF5 (".h5") or as a checkpoint."""
        from weft.lib.keras.saving.weights import save_weights

        save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: Any, by_name: bool = False) -> Any:
        """Reads weights from a file of either kind, layer by layer or by the names of layers."""
        from weft.lib.keras.saving.weights import load_weights

        return load_weights(self, filepath, by_name)

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        """The children of the model in a checkpoint of objects."""
        from weft.lib.keras.saving.dependencies import of_model

        return of_model(self)

    def _number_layers(self) -> None:
        """Gives layers the names by which checkpoints of objects know them."""
        from weft.lib.keras.saving.dependencies import number_layers

        number_layers(self)

    def _functions_to_save(self, known: dict[str, Any]) -> dict[str, Any]:
        """The functions that a SavedModel of objects has of a model."""
        from weft.lib.keras.saving.model_functions import functions_of_model

        return functions_of_model(self, known)

    def _lists_to_save(self) -> dict[str, Any]:
        """The lists of variables and losses that a SavedModel of objects has of a model."""
        from weft.lib.keras.saving.model_functions import lists_of_model

        return lists_of_model(self)

    def _updated_config(self) -> dict[str, Any]:
        """The configuration, with what one has to know to read it."""
        from weft.lib.keras.backend.config import backend

        return {
            "class_name": type(self).__name__,
            "config": self.get_config(),
            "keras_version": KERAS_VERSION,
            "backend": backend(),
        }

    def to_json(self, **kwargs: Any) -> str:
        """The configuration as JSON, for `model_from_json`; `kwargs` go to `json.dumps`."""
        return json.dumps(self._updated_config(), default=json_value, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """The configuration as YAML, for `model_from_yaml`; `kwargs` go to `yaml.dump`."""
        try:
            import yaml  # type: ignore[import-untyped]
        except ImportError:
            raise ImportError("Requires yaml module installed (`pip install pyyaml`).") from None
        # By way of JSON, so that only plain values are written.
        return yaml.dump(json.loads(self.to_json()), **kwargs)

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
    ) -> None:
        """Prints a table of the layers, their output shapes and numbers of parameters."""
        from weft.lib.keras.utils.layer_utils import print_summary

        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or "
                "calling `fit()` with some data, or specify an `input_shape` argument in the first "
                "layer(s) for automatic build."
            )
        print_summary(self, line_length=line_length, positions=positions, print_fn=print_fn)


def json_value(value: Any) -> Any:
    """A value that JSON has no form for, in one that it has."""
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dtypes.DType):
        return value.name
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, TensorShape):
        return value.as_list()
    if callable(value):
        return value.__name__
    raise TypeError("Not JSON Serializable:", value)
