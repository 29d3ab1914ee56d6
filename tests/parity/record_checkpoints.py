"""Writes checkpoints of every kind with TensorFlow.

    .venv-tf/bin/python -m tests.parity.record_checkpoints

`tests/storage/test_bundle.py` and `tests/train/test_saver.py` read them with weft, and compare what
weft writes byte for byte.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf2

from tests.parity.checkpoint_programs import model, on_two_devices, partitioned
from tests.parity.checkpoints import FOLDER, QUANTIZED, every_dtype, many

tf = tf2.compat.v1
tf.disable_v2_behavior()


def tensor(dtype: str, value: np.ndarray) -> Any:
    if dtype in QUANTIZED:
        return tf.bitcast(tf.constant(value), tf.as_dtype(dtype))
    return tf.constant(value, tf.as_dtype(dtype))


def save(name: str, content: dict[str, tuple[str, np.ndarray]]) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tensors = [tensor(*item) for item in content.values()]
        op = tf.raw_ops.SaveV2(
            prefix=str(FOLDER / name),
            tensor_names=list(content),
            shape_and_slices=[""] * len(content),
            tensors=tensors,
        )
        sess.run(op)


def run_saver(name: str, build: Callable[[Any], Any], steps: int = 0, **saver_options: Any) -> None:
    """Saves the variables that `build` makes, and keeps the nodes that the saver added."""
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default() as graph, tf.Session(config=config) as sess:
        train = build(tf)
        before = {op.name for op in graph.get_operations()}
        saver = tf.train.Saver(**saver_options)
        nodes = [describe(op) for op in graph.get_operations() if op.name not in before]
        # TensorFlow 1.15 does not know this operation yet.
        nodes = [node for node in nodes if node["op"] != "DisableCopyOnRead"]
        sess.run(tf.global_variables_initializer())
        for _ in range(steps):
            sess.run(train)
        saver.save(sess, str(FOLDER / name), write_meta_graph=False, write_state=False)
        text = json.dumps(nodes, indent=1, sort_keys=True)
        (FOLDER / f"{name}.nodes.json").write_text(text + "\n")


def describe(op: Any) -> dict[str, Any]:
    groups = [group.decode() for group in op.colocation_groups()]
    controls = [f"^{c.name}" for c in op.control_inputs if c.type != "DisableCopyOnRead"]
    return {
        "name": op.name,
        "op": op.type,
        "inputs": [t.name for t in op.inputs] + sorted(controls),
        "colocated": [group for group in groups if group != f"loc:@{op.name}"],
    }


def objects() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]), use_resource=True)
        b = tf.get_variable("b", initializer=tf.constant(3.0), use_resource=True)
        inner = tf.train.Checkpoint(b=b)
        checkpoint = tf.train.Checkpoint(w=w, inner=inner)
        sess.run([w.initializer, b.initializer, checkpoint.save_counter.initializer])
        checkpoint.write(str(FOLDER / "objects"))


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    save("every_dtype", every_dtype())
    save("many", many())
    run_saver("partitioned", partitioned)
    run_saver("adam", model, steps=3)
    run_saver("sharded", on_two_devices, sharded=True)
    run_saver("v1", model, steps=1, write_version=tf.train.SaverDef.V1)
    objects()


if __name__ == "__main__":
    main()
