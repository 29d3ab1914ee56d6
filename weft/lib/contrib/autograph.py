"""tf.contrib.autograph: `tf.autograph` under its first name, with what has gone from it since."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.lib.autograph import api
from weft.lib.autograph import operators as operators
from weft.lib.autograph.api import AutoGraphError as AutoGraphError
from weft.lib.autograph.api import Feature as Feature
from weft.lib.autograph.api import convert as convert
from weft.lib.autograph.api import do_not_convert as do_not_convert
from weft.lib.autograph.api import set_loop_options as set_loop_options
from weft.lib.autograph.lists import stack as stack


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """A function like `entity` whose control flow becomes nodes where it depends on tensors."""
    return api.to_graph(
        entity, recursive, experimental_optional_features=experimental_optional_features
    )


def to_code(entity: Any, recursive: bool = True, experimental_optional_features: Any = None) -> str:
    """The source of the function that `to_graph` makes."""
    return api.to_code(
        entity, recursive, experimental_optional_features=experimental_optional_features
    )


def set_element_type(entity: Any, dtype: Any, shape: TensorShape | None = None) -> None:
    """Says what a list holds. Nothing depends on it here: lists know it by what is in them."""
