"""Random numbers after functions that TensorFlow makes of other operations: values of 1.15.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

metric, signal = tf.contrib.losses.metric_learning, tf.signal
LABELS = [0, 0, 1, 1, 2, 2, 0, 1]
BUILT: dict[str, Callable[[Callable[..., Any]], Any]] = {
    "triplets": lambda x: metric.triplet_semihard_loss(tf.constant(LABELS), x(8, 5)),
    "pairs": lambda x: metric.npairs_loss(tf.constant(LABELS), x(8, 5), x(8, 5)),
    "lifted": lambda x: metric.lifted_struct_loss(tf.constant(LABELS), x(8, 5)),
    "contrastive": lambda x: metric.contrastive_loss(tf.constant(LABELS), x(8, 5), x(8, 5)),
    "dropout": lambda x: tf.contrib.nn.alpha_dropout(x(3, 4), 0.6, seed=1),
    "softplus": lambda x: tf.contrib.nn.scaled_softplus(x(3), 2.0),
    "sparsemax": lambda x: tf.contrib.sparsemax.sparsemax(x(4, 5)),
    "resampler": lambda x: tf.contrib.resampler.resampler(x(2, 5, 5, 3), x(2, 4, 2)),
    "warp": lambda x: tf.contrib.image.dense_image_warp(x(1, 6, 6, 2), x(1, 6, 6, 2)),
    "frames": lambda x: signal.frame(x(10), 4, 2),
    "padded frames": lambda x: signal.frame(x(10), 4, 2, pad_end=True),
    "spectra": lambda x: signal.stft(x(20), 8, 4),
    "overlaps": lambda x: signal.overlap_and_add(x(3, 4), 2),
    "no overlaps": lambda x: signal.overlap_and_add(x(3, 4), 4),
    "cosines": lambda x: [signal.dct(x(3, 8), kind) for kind in (1, 2, 3)],
}

DRAWN = {
    "triplets": 257986769,
    "pairs": 899021418,
    "lifted": 921385127,
    "contrastive": 338051126,
    "dropout": 56964136,
    "softplus": 462361331,
    "sparsemax": 105255822,
    "resampler": 900326916,
    "warp": 986489969,
    "frames": 636555907,
    "padded frames": 614350161,
    "spectra": 865824610,
    "overlaps": 7996825,
    "no overlaps": 76747039,
    "cosines": 88894374,
}


def drawn(tf: Any, build: Callable[[Callable[..., Any]], Any]) -> Any:
    """What is drawn in a seeded graph, after something was built in it."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        build(lambda *shape: tf.constant(np.ones(shape, np.float32)))
        return session.run(tf.random_uniform([], maxval=10**9, dtype=tf.int32))


@pytest.mark.parametrize("name", BUILT)
def test_what_follows_has_its_seed(name: str) -> None:
    assert drawn(tf, BUILT[name]) == DRAWN[name]
