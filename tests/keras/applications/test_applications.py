"""Applications have the layers of keras_applications 1.0.8, and take weights from files."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.keras.record_applications import CASES, RECORDED, digest
from weft.core import flags
from weft.graph.convert import constant
from weft.lib.keras import applications
from weft.lib.keras import backend as K
from weft.lib.keras.applications import common, densenet, imagenet_utils, mobilenet_v2, resnet
from weft.lib.keras.engine.input_layer import Input
from weft.lib.keras.layers.resizing import ZeroPadding2D

# The others take seconds to build.
QUICK = ("MobileNet", "MobileNetV2", "ResNet50V2", "VGG16", "VGG19")


@pytest.fixture(autouse=True)
def without_compiling() -> Iterator[None]:
    with flags.XLA.override(False):
        yield


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES],
)
def test_layers_are_those_of_keras(name: str) -> None:
    module, settings = CASES[name]
    make = getattr(importlib.import_module(f"weft.lib.keras.applications.{module}"), name)
    assert make is getattr(applications, name)
    assert digest(make(**settings)) == json.loads(RECORDED.read_text())[name]


def test_weights_from_a_file(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    settings = {"input_shape": (32, 32, 3), "alpha": 0.25, "classes": 4}
    model = applications.MobileNet(weights=None, **settings)
    model.save_weights(tmp_path / "w.h5")
    kernel = model.get_layer("conv_pw_3").get_weights()[0]
    K.clear_session()
    again = applications.MobileNet(weights=str(tmp_path / "w.h5"), **settings)
    np.testing.assert_array_equal(again.get_layer("conv_pw_3").get_weights()[0], kernel)
    assert again.name == "mobilenet_0.25_32"


def test_weights_for_imagenet_come_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def local(name: str, origin: str, **kwargs: object) -> str:
        asked.append((name, origin, kwargs))
        raise FileNotFoundError

    monkeypatch.setattr(common, "get_file", local)
    with pytest.raises(FileNotFoundError):
        applications.MobileNetV2(input_shape=(96, 96, 3), include_top=False)
    ((name, origin, kwargs),) = asked
    assert name == "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_96_no_top.h5"
    assert origin.endswith("/releases/download/v1.1/" + name)
    assert kwargs["cache_subdir"] == "models"


def test_on_a_tensor() -> None:
    images = Input((64, 64, 3))
    x = ZeroPadding2D(16)(images)
    model = mobilenet_v2.MobileNetV2(weights=None, input_tensor=x, include_top=False)
    assert model.inputs[0] is images
    assert model.name == "mobilenetv2_1.00_96"
    model = mobilenet_v2.MobileNetV2(weights=None, input_tensor=images * 2, include_top=False)
    assert model.inputs[0].op.type == "Mul"
    with pytest.raises(ValueError, match="do not meet the same shape"):
        mobilenet_v2.MobileNetV2((32, 32, 3), weights=None, input_tensor=images)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="`classes` should be 1000"):
        applications.VGG16(classes=3)
    with pytest.raises(ValueError, match="The `weights` argument"):
        applications.VGG16(weights="nothing.h5")
    with pytest.raises(ValueError, match="Input size must be at least 32x32"):
        applications.VGG16(weights=None, include_top=False, input_shape=(8, 64, 3))
    with pytest.raises(ValueError, match=r"should be \(224, 224, 3\)"):
        applications.VGG16(input_shape=(64, 64, 3))
    with pytest.raises(ValueError, match="static `input_shape`"):
        applications.VGG16(weights=None, input_shape=(None, None, 3))
    with pytest.raises(ValueError, match="depth multiplier must be 1"):
        applications.MobileNet(depth_multiplier=2)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_colours(data_format: str) -> None:
    image = np.random.RandomState(0).randint(0, 256, (2, 4, 5, 3)).astype("float32")
    mean, deviation = np.array(imagenet_utils.MEAN), np.array(imagenet_utils.DEVIATION)
    expected = {
        "tf": image / 127.5 - 1,
        "torch": (image / 255 - mean) / deviation,
        "caffe": image[..., ::-1] - imagenet_utils.CAFFE_MEAN,
    }
    first = data_format == "channels_first"
    given = image.transpose(0, 3, 1, 2) if first else image
    for mode, values in expected.items():
        values = values.transpose(0, 3, 1, 2) if first else values
        found = imagenet_utils.preprocess_input(given.copy(), data_format, mode)
        np.testing.assert_allclose(found, values, rtol=1e-4, atol=1e-4)
        tensor = imagenet_utils.preprocess_input(constant(given), data_format, mode)
        np.testing.assert_allclose(K.get_value(tensor), values, rtol=1e-4, atol=1e-4)
    assert resnet.preprocess_input(image.astype("uint8")).dtype == np.float32
    assert densenet.preprocess_input(image[0].copy()).shape == (4, 5, 3)
    with pytest.raises(ValueError, match="Unknown data_format other"):
        imagenet_utils.preprocess_input(image, "other")


def test_predictions_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {str(i): [f"n{i}", f"thing {i}"] for i in range(1000)}
    monkeypatch.setattr(imagenet_utils, "class_index", lambda: names)
    row = np.zeros((1, 1000))
    row[0, [7, 9]] = 0.7, 0.3
    assert imagenet_utils.decode_predictions(row, top=2) == [
        [("n7", "thing 7", 0.7), ("n9", "thing 9", 0.3)]
    ]
    with pytest.raises(ValueError, match="expects a batch of predictions"):
        imagenet_utils.decode_predictions(np.zeros((1, 3)))
