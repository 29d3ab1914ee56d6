"""Models of others: their code does not run, and their files hold nothing of ours."""

from __future__ import annotations

import base64
import json
import marshal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.core import flags
from weft.core.errors import ResourceExhaustedError
from weft.lib.keras.backend.session import clear_session
from weft.lib.keras.engine.cloning import clone_model
from weft.lib.keras.engine.input_layer import Input
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.convolutional import Conv2D
from weft.lib.keras.layers.core import Dense
from weft.lib.keras.layers.lambda_layer import Lambda
from weft.lib.keras.layers.merge import add
from weft.lib.keras.layers.normalization import BatchNormalization
from weft.lib.keras.layers.serialization import deserialize
from weft.lib.keras.saving.model_config import (
    model_from_config,
    model_from_json,
    model_from_yaml,
)
from weft.lib.keras.saving.save import load_model
from weft.lib.keras.saving.saved_model import export_saved_model, load_from_saved_model
from weft.lib.keras.utils import safe_mode

h5py = pytest.importorskip("h5py")

RAN: list[str] = []


def theirs() -> dict[str, Any]:
    """The configuration of a model whose code another process wrote."""

    def code(x: Any) -> Any:
        __import__(__name__, fromlist=["RAN"]).RAN.append("code")
        return x

    text = base64.encodebytes(marshal.dumps(code.__code__)).decode()
    layer = {
        "name": "l", "batch_input_shape": [None, 2], "dtype": "float32",
        "function": [text, None, None], "function_type": "lambda", "module": __name__,
        "output_shape": None, "output_shape_type": "raw", "output_shape_module": None,
        "arguments": {},
    }  # fmt: skip
    layers = [{"class_name": "Lambda", "config": layer}]
    return {"class_name": "Sequential", "config": {"name": "s", "layers": layers}}


def in_hdf5(folder: Path) -> str:
    path = str(folder / "m.h5")
    Sequential([Dense(1, input_shape=(2,))]).save(path)
    with h5py.File(path, "a") as file:
        file.attrs["model_config"] = json.dumps(theirs()).encode()
        file["model_weights"].attrs["layer_names"] = np.array([b"l"])
        file["model_weights"].create_group("l").attrs["weight_names"] = np.array([], "S1")
    return path


def in_saved_model(folder: Path) -> str:
    path = folder / "export"
    export_saved_model(Sequential([Lambda(lambda x: x, input_shape=(2,)), Dense(1)]), str(path))
    config = json.loads((path / "assets" / "saved_model.json").read_text())
    config["config"]["layers"][0]["config"]["function"] = theirs()["config"]["layers"][0]["config"][
        "function"
    ]
    (path / "assets" / "saved_model.json").write_text(json.dumps(config))
    return str(path)


READERS = {
    "config": (lambda folder: theirs(), model_from_config),
    "json": (lambda folder: json.dumps(theirs()), model_from_json),
    "yaml": (lambda folder: json.dumps(theirs()), model_from_yaml),
    "hdf5": (in_hdf5, load_model),
    "saved model": (in_saved_model, load_from_saved_model),
    "saved model as a model": (in_saved_model, load_model),
}


@pytest.mark.parametrize("form", READERS)
def test_code_of_others_runs_only_where_it_may(form: str, tmp_path: Path) -> None:
    make, read = READERS[form]
    given = make(tmp_path)
    clear_session()
    RAN.clear()
    with pytest.raises(ValueError, match=r"safe_mode=False.*WEFT_MODEL_CODE=1"):
        read(given)
    with safe_mode.safe_mode_scope(False), pytest.raises(ValueError, match="disallowed by default"):
        read(given, safe_mode=True)
    assert not RAN
    for allow in (
        lambda: read(given, safe_mode=False),
        lambda: _inside(safe_mode.safe_mode_scope(False), read, given),
        lambda: _inside(flags.MODEL_CODE.override(True), read, given),
    ):
        clear_session()
        RAN.clear()
        allow()
        assert RAN


def _inside(scope: Any, read: Any, given: Any) -> Any:
    with scope:
        return read(given)


def test_the_switch_for_the_whole_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags.MODEL_CODE, "value", False)
    safe_mode.enable_unsafe_deserialization()
    assert not safe_mode.in_safe_mode()


def test_code_of_ones_own_comes_back(tmp_path: Path) -> None:
    model = Sequential([Lambda(lambda x: x * 3.0, input_shape=(2,))])
    model.save(str(tmp_path / "m.h5"))
    for copy in (
        clone_model(model), model_from_json(model.to_json()), load_model(str(tmp_path / "m.h5")),
    ):  # fmt: skip
        np.testing.assert_array_equal(copy.predict(np.ones((1, 2), "f4")), [[3.0, 3.0]])


def test_functions_by_name_and_classes_of_ones_own() -> None:
    config = theirs()
    layer = config["config"]["layers"][0]["config"]
    mine = type("Lambda", (Dense,), {"from_config": classmethod(lambda cls, config: cls(4))})
    model = model_from_config(config, custom_objects={"Lambda": mine})
    assert isinstance(model.layers[0], mine)
    layer |= {"function": "doubled", "function_type": "function"}
    model = model_from_config(config, custom_objects={"doubled": lambda x: x * 2})
    np.testing.assert_array_equal(model.predict(np.ones((1, 2), "f4")), [[2.0, 2.0]])


# ---- HDF5 ----


def external(file: Any, group: Any, secret: str) -> None:
    del group["kernel:0"]
    group.create_dataset("kernel:0", (2, 1), "f4", external=[(secret, 0, 8)])


def linked(file: Any, group: Any, secret: str) -> None:
    del group["kernel:0"]
    group["kernel:0"] = h5py.ExternalLink(secret, "x")


def group_linked(file: Any, group: Any, secret: str) -> None:
    del file["model_weights/d"]
    file["model_weights/d"] = h5py.ExternalLink(secret, "/")


def virtual(file: Any, group: Any, secret: str) -> None:
    del group["kernel:0"]
    layout = h5py.VirtualLayout((2, 1), "f4")
    layout[:] = h5py.VirtualSource(secret, "x", (2, 1), "f4")
    group.create_virtual_dataset("kernel:0", layout)


@pytest.mark.parametrize("change", [external, linked, group_linked, virtual])
@pytest.mark.parametrize("is_open", [False, True])
def test_files_of_ours_are_not_read(change: Any, is_open: bool, tmp_path: Path) -> None:
    path, secret = str(tmp_path / "m.h5"), str(tmp_path / "secret")
    model = Sequential([Dense(1, input_shape=(2,), name="d", use_bias=False)])
    model.save(path)
    with h5py.File(secret, "w") as file:
        file["x"] = np.ones((2, 1), "f4")
    with h5py.File(path, "a") as file:
        change(file, file["model_weights/d/d"], secret)
    with pytest.raises(ValueError, match="another file"):
        model.load_weights(path)
    with pytest.raises(ValueError, match="another file"):
        if is_open:
            with h5py.File(path, "r") as file:
                load_model(file)
        else:
            load_model(path)


def test_links_inside_the_file_are_followed(tmp_path: Path) -> None:
    path = str(tmp_path / "m.h5")
    model = Sequential([Dense(1, input_shape=(2,), name="d", use_bias=False)])
    model.save(path)
    with h5py.File(path, "a") as file:
        group = file["model_weights/d/d"]
        file["elsewhere"] = np.full((2, 1), 5, "f4")
        del group["kernel:0"]
        group["kernel:0"] = h5py.SoftLink("/elsewhere")
    np.testing.assert_array_equal(load_model(path).get_weights()[0], [[5.0], [5.0]])


def test_weights_that_a_file_only_claims(tmp_path: Path) -> None:
    path = str(tmp_path / "m.h5")
    Sequential([Dense(1, input_shape=(2,), name="d", use_bias=False)]).save(path)
    with h5py.File(path, "a") as file:
        group = file["model_weights/d/d"]
        del group["kernel:0"]
        group.create_dataset("kernel:0", (10**6, 10**6), "f4", chunks=(10**3, 10**3))
    with pytest.raises(ResourceExhaustedError, match="WEFT_MAX_EXPANDED"):
        load_model(path)


# ---- text ----


def doubling(count: int) -> str:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, count)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (doubling(60), "parts with its aliases written out"),
        ("a: &a [*a]", "inside itself"),
        ("a: " + "[" * 5000, "nested too deeply"),
    ],
)
def test_yaml_that_grows(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model_from_yaml(text)


def test_aliases_that_do_not_grow_are_read() -> None:
    config = model_from_yaml(
        "class_name: Sequential\nconfig:\n  name: s\n  layers:\n"
        "  - &a {class_name: Flatten, config: {name: f}}\n"
        "  - {class_name: Dense, config: {name: d, units: 2}}\n"
    ).get_config()
    assert [layer["class_name"] for layer in config["layers"]] == ["Flatten", "Dense"]


def test_json_that_is_deep() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        model_from_json("[" * 100_000)
    nested: Any = {"class_name": "Dense", "config": {"units": 1}}
    for _ in range(400):
        nested = {"class_name": "TimeDistributed", "config": {"layer": nested}}
    with pytest.raises(ValueError, match="nested too deeply"):
        model_from_config(nested)


# ---- configurations and files that do not fit ---------------------------------------------------


def _described() -> Any:
    x = Input((3,), name="x")
    y = Dense(2, name="y")
    model = Model(x, add([y(x), y(x)], name="end"))
    return json.loads(model.to_json())


def _layer(config: Any, name: str) -> Any:
    return next(each for each in config["config"]["layers"] if each["name"] == name)


def _drop(*path: Any) -> Callable[[Any], None]:
    def edit(config: Any) -> None:
        for key in path[:-1]:
            config = config[key]
        del config[path[-1]]

    return edit


def _call(*record: Any) -> Callable[[Any], None]:
    def edit(config: Any) -> None:
        _layer(config, "y")["inbound_nodes"][0] = [list(record)]

    return edit


def _end(*record: Any) -> Callable[[Any], None]:
    def edit(config: Any) -> None:
        config["config"]["output_layers"] = [list(record)]

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        _drop("class_name"),
        _drop("config", "layers"),
        _drop("config", "input_layers"),
        _drop("config", "output_layers"),
        _drop("config", "layers", 0, "name"),
        _drop("config", "layers", 0, "class_name"),
        _drop("config", "layers", 1, "inbound_nodes"),
        _call("nobody", 0, 0, {}),
        _call("x", -1, 0, {}),
        _call("x", "0", 0, {}),
        _call("x", 0, 7, {}),
        _call("x", 0, 0, {}, 1),
        _call(7),
        _end("nobody", 0, 0),
        _end("end", 5, 0),
        _end("end", 0, 5),
        _end(None),
    ],
)
def test_configurations_that_do_not_fit(edit: Callable[[Any], None]) -> None:
    config = _described()
    model_from_config(config)
    edit(config)
    with pytest.raises(ValueError, match="Improperly formatted model config"):
        model_from_config(config)


@pytest.mark.parametrize(
    ("layer", "part"),
    [("TimeDistributed", "layer"), ("StackedRNNCells", "cells"), ("RNN", "cell")],
)
def test_layers_whose_inner_ones_are_missing(layer: str, part: str) -> None:
    config = {"class_name": layer, "config": {"name": "outer"}}
    with pytest.raises(ValueError, match=f"Improperly formatted model config: no '{part}'"):
        deserialize(config)


@pytest.mark.parametrize("part", ["model_weights", "model_weights/y", "model_weights/y/y/bias:0"])
def test_files_that_lack_a_part(part: str, tmp_path: Path) -> None:
    path = str(tmp_path / "m.h5")
    Sequential([Dense(2, input_shape=(3,), name="y")]).save(path)
    with h5py.File(path, "a") as file:
        del file[part]
    name = part.rsplit("/", 1)[-1] if not part.endswith(":0") else "y/bias:0"
    with pytest.raises(ValueError, match=f"The HDF5 file has no '{name}' in '/"):
        load_model(path)


def test_layers_of_odd_arguments() -> None:
    with pytest.raises(ValueError, match=r"padding.*7"):
        Conv2D(1, 1, padding=7)
    with pytest.raises(ValueError, match=r"data_format.*7"):
        Conv2D(1, 1, data_format=7)
    with pytest.raises(TypeError, match="name of a layer must be a string"):
        Dense(1, name={"a": 1})
    with pytest.raises(ValueError, match="Invalid axis"):
        BatchNormalization(axis=[]).build([None, 2])
