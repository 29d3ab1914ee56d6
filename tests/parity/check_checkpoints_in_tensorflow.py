"""Reads weft's checkpoints with TensorFlow and compares with what they should hold.

    .venv-tf/bin/python -m tests.parity.check_checkpoints_in_tensorflow FOLDER

FOLDER is as `tests/parity/test_checkpoints.py` writes it. Exits with 1 and one line per difference.
"""

from __future__ import annotations

import os
import sys
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf2

from tests.parity.checkpoints import QUANTIZED, ROWS, every_dtype, large_index, many
from tests.parity.record_checkpoints import model, on_two_devices, partitioned

tf = tf2.compat.v1
tf.disable_v2_behavior()


def check_values(prefix: str, content: dict[str, tuple[str, np.ndarray]]) -> list[str]:
    """Every tensor through the restore operation, which checks types and sums."""
    with tf.Graph().as_default(), tf.Session() as sess:
        restored = tf.raw_ops.RestoreV2(
            prefix=prefix,
            tensor_names=list(content),
            shape_and_slices=[""] * len(content),
            dtypes=[tf.as_dtype(dtype) for dtype, _ in content.values()],
        )
        plain = [
            tf.bitcast(tensor, tf.as_dtype(QUANTIZED[dtype])) if dtype in QUANTIZED else tensor
            for tensor, (dtype, _) in zip(restored, content.values(), strict=True)
        ]
        found = dict(zip(content, sess.run(plain), strict=True))
    return [
        f"{prefix}: {name} is {found[name]}, not {value}"
        for name, (_, value) in content.items()
        if np.asarray(found[name]).tolist() != value.tolist() and not _both_nan(found[name], value)
    ]


def _both_nan(a: Any, b: np.ndarray) -> bool:
    return b.dtype.kind == "f" and np.array_equal(a, b, equal_nan=True)


def check_saver(prefix: str, build: Any, expected: dict[str, Any]) -> list[str]:
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        build()
        tf.train.Saver().restore(sess, prefix)
        found = {name: sess.run(f"{name}:0") for name in expected}
    return [
        f"{prefix}: {name} is {found[name]}, not {value}"
        for name, value in expected.items()
        if not np.allclose(found[name], value, rtol=1e-5)
    ]


def check_objects(prefix: str) -> list[str]:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("other", [2], use_resource=True)
        b = tf.get_variable("name", [], use_resource=True)
        checkpoint = tf.train.Checkpoint(w=w, inner=tf.train.Checkpoint(b=b))
        checkpoint.restore(prefix).assert_consumed().run_restore_ops()
        found = sess.run(w).tolist(), float(sess.run(b))
    return [] if found == ([1.0, 2.0], 3.0) else [f"{prefix}: {found}"]


def main(folder: str) -> int:
    def at(name: str) -> str:
        return os.path.join(folder, name)

    parts = {"rows/part_0": ROWS[:3], "rows/part_2": ROWS[5:], "whole": ROWS}
    steps = {"global_step": 3}
    problems = [
        *check_values(at("every_dtype"), every_dtype()),
        *check_values(at("many"), many()),
        *check_values(at("large_index"), large_index()),
        *check_saver(at("partitioned"), partitioned, parts),
        *check_saver(at("sharded"), on_two_devices, {"a": [1.0, 2.0], "b": [4, 5, 6], "c": [3.0]}),
        *check_saver(at("adam"), model, steps),
        *check_saver(at("v1"), model, {"global_step": 1}),
        *check_objects(at("objects")),
    ]
    sys.stdout.write("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
