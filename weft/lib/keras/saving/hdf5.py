"""Weights in the groups of an HDF5 file, laid out as Keras does.

A group has the attributes `layer_names`, `backend` and `keras_version`, and a group for each layer;
that has the attribute `weight_names` and a dataset for each weight, named after it.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.lib.keras import backend as K
from weft.lib.keras.engine.network_saving import KERAS_VERSION
from weft.lib.keras.saving.hdf5_checks import member
from weft.lib.keras.saving.old_weights import preprocess_weights_for_loading
from weft.lib.keras.utils.io_utils import import_h5py

# HDF5 keeps attributes in a header of 64 kB, of which some is taken.
HDF5_OBJECT_HEADER_LIMIT = 64512


@contextlib.contextmanager
def new_file(filepath: Any, purpose: str) -> Iterator[Any]:
    """A file to write to. It is there when it is complete; until then, what was there stays."""
    h5py = import_h5py(purpose)
    folder, name = os.path.split(os.path.realpath(filepath))
    part = os.path.join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        with h5py.File(part, "w") as file:
            yield file
        os.replace(part, os.path.join(folder, name))
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(part)


def as_text(value: Any) -> Any:
    """An attribute as text, which files have as bytes or as text."""
    return value.decode("utf8") if isinstance(value, bytes) else value


def save_attributes(group: Any, name: str, data: list[bytes]) -> None:
    """An attribute that is a list of names; one that is too large becomes `name0`, `name1`, ..."""
    too_large = [item for item in data if len(item) > HDF5_OBJECT_HEADER_LIMIT]
    if too_large:
        raise RuntimeError(
            "The following attributes cannot be saved to HDF5 file because they are larger than "
            f"{HDF5_OBJECT_HEADER_LIMIT} bytes: {', '.join(map(str, too_large))}"
        )
    array = np.asarray(data)
    count = 1
    while any(part.nbytes > HDF5_OBJECT_HEADER_LIMIT for part in np.array_split(array, count)):
        count += 1
    if count == 1:
        group.attrs[name] = data
        return
    for i, part in enumerate(np.array_split(array, count)):
        group.attrs[f"{name}{i}"] = part


def load_attributes(group: Any, name: str) -> list[str]:
    if name in group.attrs:
        return [as_text(item) for item in group.attrs[name]]
    found: list[str] = []
    while f"{name}{len(found)}" in group.attrs:
        found.append(f"{name}{len(found)}")
    return [as_text(item) for key in found for item in group.attrs[key]]


def layer_weights(layer: Any) -> list[Any]:
    """The variables of a layer in the order files have them: those it trains come first."""
    return layer.trainable_weights + layer.non_trainable_weights


def save_variables(group: Any, variables: list[Any]) -> None:
    """A dataset for each variable, and the list of their names."""
    names = [variable.name.encode("utf8") for variable in variables]
    save_attributes(group, "weight_names", names)
    for name, value in zip(names, K.batch_get_value(variables), strict=True):
        group.create_dataset(name, data=value)


def load_values(group: Any) -> list[np.ndarray]:
    """The values of a group, in the order of their list."""
    return [np.asarray(member(group, name)) for name in load_attributes(group, "weight_names")]


def save_weights_to_hdf5_group(group: Any, layers: list[Any]) -> None:
    """Writes the weights of layers."""
    save_attributes(group, "layer_names", [layer.name.encode("utf8") for layer in layers])
    for key, value in (("backend", K.backend()), ("keras_version", KERAS_VERSION)):
        group.attrs[key] = value.encode("utf8")
    for layer in layers:
        save_variables(group.create_group(layer.name), layer_weights(layer))


def _origin(group: Any) -> tuple[str, str | None]:
    """(version of Keras, backend) that a file was written with."""
    version = as_text(group.attrs.get("keras_version", b"1"))
    return version, as_text(group.attrs.get("backend"))


def load_weights_from_hdf5_group(group: Any, layers: list[Any]) -> None:
    """Reads weights into layers, the first saved into the first, and so on."""
    having = [layer for layer in layers if layer_weights(layer)]
    names = load_attributes(group, "layer_names")
    names = [name for name in names if load_attributes(member(group, name), "weight_names")]
    if len(names) != len(having):
        raise ValueError(
            f"You are trying to load a weight file containing {len(names)} layers into a model "
            f"with {len(having)} layers."
        )
    pairs: list[tuple[Any, Any]] = []
    for k, (name, layer) in enumerate(zip(names, having, strict=True)):
        values = preprocess_weights_for_loading(
            layer, load_values(member(group, name)), *_origin(group)
        )
        variables = layer_weights(layer)
        if len(values) != len(variables):
            raise ValueError(
                f'Layer #{k} (named "{layer.name}" in the current model) was found to correspond '
                f"to layer {name} in the save file. However the new layer {layer.name} expects "
                f"{len(variables)} weights, but the saved weights have {len(values)} elements."
            )
        pairs += zip(variables, values, strict=True)
    _check_shapes(pairs)
    K.batch_set_value(pairs)


def _check_shapes(pairs: list[tuple[Any, Any]]) -> None:
    """Says which variable a value does not fit, before anything is assigned."""
    for variable, value in pairs:
        if not variable.shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Cannot feed value of shape {value.shape} for variable {variable.name!r}, which "
                f"has shape '{variable.shape}'"
            )


def load_weights_from_hdf5_group_by_name(group: Any, layers: list[Any]) -> None:
    """Reads weights into the layers that are called as those saved; others stay as they are."""
    pairs: list[tuple[Any, Any]] = []
    for k, layer, saved in _same_names(group, layers):
        values = preprocess_weights_for_loading(layer, saved, *_origin(group))
        variables = layer_weights(layer)
        if len(values) != len(variables):
            raise ValueError(
                f'Layer #{k} (named "{layer.name}") expects {len(variables)} weight(s), but the '
                f"saved weights have {len(values)} element(s)."
            )
        for variable, value in zip(variables, values, strict=True):
            if tuple(variable.shape.as_list()) != value.shape:
                raise ValueError(
                    f'Layer #{k} (named "{layer.name}"), weight {variable} has shape '
                    f"{tuple(variable.shape.as_list())}, but the saved weight has shape "
                    f"{value.shape}."
                )
            pairs.append((variable, value))
    K.batch_set_value(pairs)


def _same_names(group: Any, layers: list[Any]) -> Iterator[tuple[int, Any, list[np.ndarray]]]:
    for k, name in enumerate(load_attributes(group, "layer_names")):
        for layer in layers:
            if layer.name == name:
                yield k, layer, load_values(member(group, name))
