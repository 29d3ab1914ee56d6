"""Records what the layers of TensorFlow's Keras do with the samples of tests/keras/layers.

python -m tests.keras.record_layers     (with TensorFlow 2.15, whose v1 Keras builds graphs)
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

from tests.keras.layers.networks import NETWORKS, train
from tests.keras.layers.observe import observe
from tests.keras.layers.samples import SAMPLES

HERE = Path(__file__).parent / "recorded"


def main() -> None:
    tf.disable_v2_behavior()
    seen, values = {}, {}
    for sample in SAMPLES:
        tf.keras.backend.clear_session()
        with tf.Graph().as_default():
            found = observe(tf, sample)
        for key, value in found.pop("values").items():
            values[f"{sample.name}|{key}"] = np.asarray(value)
        seen[sample.name] = found
    (HERE / "layers.json").write_text(json.dumps(seen, indent=1, sort_keys=True) + "\n")
    np.savez_compressed(HERE / "layers.npz", **values)
    trained = {f"{n}|{k}": v for n in NETWORKS for k, v in train(tf, n).items()}
    np.savez_compressed(HERE / "layer_networks.npz", **trained)


if __name__ == "__main__":
    main()
