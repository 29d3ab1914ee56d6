"""Common parts of all applications: their arguments, their inputs, their last layers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.lib.keras import backend as K
from weft.lib.keras.applications.imagenet_utils import obtain_input_shape
from weft.lib.keras.engine.input_layer import Input
from weft.lib.keras.engine.topology import get_source_inputs
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.advanced_activations import ReLU
from weft.lib.keras.layers.convolutional import Conv2D
from weft.lib.keras.layers.core import Activation, Dense
from weft.lib.keras.layers.global_pooling import GlobalAveragePooling2D, GlobalMaxPooling2D
from weft.lib.keras.layers.merge import Concatenate
from weft.lib.keras.layers.normalization import BatchNormalization
from weft.lib.keras.utils.files import get_file


@dataclass(frozen=True)
class WeightFile:
    """Weights for ImageNet: of the whole model, or without its last layers."""

    folder: str
    names: tuple[str, str]
    hashes: tuple[str | None, str | None] = (None, None)
    local_names: tuple[str, str] | None = None

    def path(self, include_top: bool) -> str:
        i = 0 if include_top else 1
        local = (self.local_names or self.names)[i]
        origin = self.folder + self.names[i]
        return get_file(local, origin, cache_subdir="models", file_hash=self.hashes[i])


def kernels(folder: str, name: str, *hashes: str) -> WeightFile:
    """A file with the name that most of them have."""
    base = f"{name}_weights_tf_dim_ordering_tf_kernels"
    return WeightFile(folder, (f"{base}.h5", f"{base}_notop.h5"), (hashes[0], hashes[1]))


@dataclass(frozen=True)
class Application:
    """The arguments that every application takes."""

    include_top: bool = True
    weights: Any = "imagenet"
    input_tensor: Any = None
    input_shape: Any = None
    pooling: str | None = None
    classes: int = 1000

    def check(self) -> None:
        """Raises ValueError for weights that there are not, or that do not fit."""
        if self.weights not in ("imagenet", None) and not os.path.exists(self.weights):
            raise ValueError(
                "The `weights` argument should be either `None` (random initialization), "
                "`imagenet` (pre-training on ImageNet), or the path to the weights file to be "
                "loaded."
            )
        if self.weights == "imagenet" and self.include_top and self.classes != 1000:
            raise ValueError(
                'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should '
                "be 1000"
            )

    def input(self, default_size: int, min_size: int, flat: bool | None = None) -> Any:
        """The tensor of the images; `flat` says whether their size has to be known."""
        self.check()
        needs_size = self.include_top if flat is None else flat
        sizes = (default_size, min_size, needs_size, self.weights)
        shape = obtain_input_shape(self.input_shape, *sizes)
        if self.input_tensor is None:
            return Input(shape=shape)
        if not hasattr(self.input_tensor, "_keras_history"):
            return Input(tensor=self.input_tensor, shape=shape)
        return self.input_tensor

    def top(self, x: Any, name: str, pool: str | None = None, biggest: str | None = None) -> Any:
        """The probabilities of the classes, or what was asked for in their place."""
        if not self.include_top:
            return self.pooled(x, pool, biggest)
        x = GlobalAveragePooling2D(name=pool)(x)
        return Dense(self.classes, activation="softmax", name=name)(x)

    def pooled(self, x: Any, name: str | None = None, biggest: str | None = None) -> Any:
        if self.pooling == "avg":
            return GlobalAveragePooling2D(name=name)(x)
        return GlobalMaxPooling2D(name=biggest)(x) if self.pooling == "max" else x

    def model(self, images: Any, x: Any, name: str, file: WeightFile | None) -> Model:
        """The model from `images` to `x`, with its weights."""
        inputs = images if self.input_tensor is None else get_source_inputs(images)
        model = Model(inputs, x, name=name)
        if self.weights == "imagenet" and file is not None:
            model.load_weights(file.path(self.include_top))
        elif self.weights not in (None, "imagenet"):
            model.load_weights(self.weights)
        return model


def application(build: Callable[[Application], Any]) -> Callable[..., Any]:
    """A function of the arguments that every application takes, which builds a model of them."""

    def make(
        include_top: bool = True,
        weights: Any = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
    ) -> Any:
        return build(Application(include_top, weights, input_tensor, input_shape, pooling, classes))

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(make, name, getattr(build, name))
    return make


# ---- layers ----


def channel_axis() -> int:
    return 1 if K.image_data_format() == "channels_first" else 3


def norm(x: Any, name: str | None = None, **kwargs: Any) -> Any:
    return BatchNormalization(axis=channel_axis(), name=name, **kwargs)(x)


def relu(x: Any, name: str | None = None) -> Any:
    return Activation("relu", name=name)(x)


def relu6(x: Any, name: str) -> Any:
    return ReLU(6.0, name=name)(x)


def conv(x: Any, filters: int, size: Any, name: str | None = None, **kwargs: Any) -> Any:
    """A convolution without a bias."""
    return Conv2D(filters, size, name=name, **{"use_bias": False, **kwargs})(x)


def joined(branches: list[Any], name: str | None = None) -> Any:
    return Concatenate(axis=channel_axis(), name=name)(branches)


def channels(x: Any) -> int:
    return x.shape.as_list()[channel_axis()]


def half_padding(x: Any, kernel_size: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    """Zeros around an image, so that a step of 2 without padding halves its size."""
    size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    start = 2 if K.image_data_format() == "channels_first" else 1
    image = x.shape.as_list()[start : start + 2]
    # Where the size is not known, it is taken to be even.
    adjust = [1 if image[0] is None else 1 - each % 2 for each in image]
    rows, columns = size[0] // 2, size[1] // 2
    return (rows - adjust[0], rows), (columns - adjust[1], columns)
