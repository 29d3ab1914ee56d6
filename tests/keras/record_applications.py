"""Records digests of the models of keras_applications 1.0.8, which TensorFlow 1.15 uses.

pip install keras_applications==1.0.8        (next to TensorFlow 2.15)
python -m tests.keras.record_applications [names]
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded" / "applications.json"
SMALL = {"include_top": False, "weights": None}
# name -> (module, settings)
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "VGG16": ("vgg16", {"weights": None}),
    "VGG19": ("vgg19", {**SMALL, "pooling": "avg"}),
    "ResNet50": ("resnet", {"weights": None}),
    "ResNet50V2": ("resnet_v2", {**SMALL, "input_shape": (64, 96, 3)}),
    "DenseNet121": ("densenet", {"weights": None}),
    "MobileNet": ("mobilenet", {"weights": None, "alpha": 0.5}),
    "MobileNetV2": ("mobilenet_v2", {"weights": None, "alpha": 1.4}),
    "Xception": ("xception", {"weights": None}),
    "InceptionV3": ("inception_v3", {"weights": None}),
    "InceptionResNetV2": ("inception_resnet_v2", {**SMALL, "pooling": "max"}),
    "NASNetMobile": ("nasnet", {"weights": None}),
}


def described(model: Any) -> list[Any]:
    """For each layer: its kind, the kinds of those below, shapes of weights and output, its name.

    Names that the program makes by counting are left out.
    """
    return sorted(
        [
            type(layer).__name__,
            sorted(type(below).__name__ for below in _below(layer)),
            _shapes(layer),
            list(layer.output.shape.as_list()),
            "" if _is_counted(layer) else layer.name,
        ]
        for layer in model.layers
    )


def _shapes(layer: Any) -> list[list[int]]:
    return [[int(n) for n in weight.shape.as_list()] for weight in layer.weights]


def _is_counted(layer: Any) -> bool:
    base = re.sub(r"_\d+$", "", layer.name)
    return base.replace("_", "") in (type(layer).__name__.lower(), "input")


def _below(layer: Any) -> list[Any]:
    (node,) = layer._inbound_nodes[:1]
    found = node.inbound_layers
    return found if isinstance(found, list) else [found]


def _hashed(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def digest(model: Any) -> dict[str, Any]:
    # Files of weights are read in the order of the layers.
    weights = [_shapes(layer) for layer in model.layers if layer.weights]
    return {
        "name": model.name,
        "layers": len(model.layers),
        "parameters": int(model.count_params()),
        "digest": _hashed(described(model)),
        "weights": _hashed(weights),
    }


def main() -> None:
    import importlib

    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    keras = tf.keras
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for name in sys.argv[1:] or CASES:
        module, settings = CASES[name]
        keras.backend.clear_session()
        make = getattr(importlib.import_module(f"keras_applications.{module}"), name)
        model = make(
            backend=keras.backend,
            layers=keras.layers,
            models=keras.models,
            utils=keras.utils,
            **settings,
        )
        recorded[name] = digest(model)
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
