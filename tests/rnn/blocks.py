"""Block LSTMs on fixed numbers; run by TensorFlow, it records what they and their gradients are.

python -m tests.rnn.blocks   # with TensorFlow 2 installed; rewrites recorded_blocks.npz
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).with_name("recorded_blocks.npz")
STEPS, BATCH, DEPTH, UNITS = 3, 2, 3, 4
CLIP, FORGET_BIAS = 0.3, 0.5


def numbers() -> dict[str, np.ndarray]:
    """Inputs of all steps, a first state, and weights; the clipping is felt."""
    rng = np.random.RandomState(5)
    shapes = {
        "x": (STEPS, BATCH, DEPTH),
        "c": (BATCH, UNITS),
        "h": (BATCH, UNITS),
        "w": (DEPTH + UNITS, 4 * UNITS),
        "b": (4 * UNITS,),
        "wci": (UNITS,),
        "wcf": (UNITS,),
        "wco": (UNITS,),
    }
    return {name: rng.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()}


def record(raw: Any) -> dict[str, np.ndarray]:
    """Of one step, and of all: memory, output, and gradients of the sum of the output."""
    given = numbers()
    weights = {name: given[name] for name in ("w", "wci", "wcf", "wco", "b")}
    state = {"cs_prev": given["c"], "h_prev": given["h"]}
    options = {"forget_bias": FORGET_BIAS, "cell_clip": CLIP, "use_peephole": True}
    found = {}
    for name, x in (("step", given["x"][0]), ("all", given["x"])):
        same = {"x": x, **state, **weights}
        if name == "all":
            same["seq_len_max"] = np.int64(STEPS)
        made = (raw.LSTMBlockCell if name == "step" else raw.BlockLSTM)(**same, **options)
        parts = dict(zip(("i", "cs", "f", "o", "ci", "co", "h"), made, strict=True))
        nothing, ones = np.zeros_like(parts["cs"]), np.ones_like(parts["h"])
        back = {**same, **parts, "cs_grad": nothing, "h_grad": ones, "use_peephole": True}
        if name == "step":
            del back["h"]
            grads = raw.LSTMBlockCellGrad(**back)
            joined = np.hstack([x, given["h"]])
            found["step/w"] = joined.T @ np.asarray(grads[1])
            found["step/wcf"] = np.asarray(grads[3])
        else:
            grads = raw.BlockLSTMGrad(**back)
            found["all/w"], found["all/wcf"] = np.asarray(grads[3]), np.asarray(grads[5])
        found[f"{name}/cs"], found[f"{name}/h"] = np.asarray(made[1]), np.asarray(made[6])
    return found


if __name__ == "__main__":
    import tensorflow as tf

    np.savez(RECORDED, **record(tf.raw_ops))
