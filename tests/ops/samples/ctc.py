"""Samples of weft/ops/nn/ctc.py and ctc_decode.py."""

import numpy as np

from tests.ops.sample import Sample, f32, i32, i64


def _scores(time, batch, classes, dtype=np.float32):
    return np.random.RandomState(5).uniform(-2, 2, (time, batch, classes)).astype(dtype)


# a b, c, b b; the blank is class 3.
LABELS = (i64([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]), i32([0, 1, 2, 1, 1]))
LENGTHS = i32([4, 2, 5])
# Two frames are too few for b b, which needs a blank in between.
SHORT = i32([4, 2, 2])
BATCH = _scores(5, 3, 4)
PEAKS = f32(4.0) * np.eye(4, dtype=np.float32)[[[0], [0], [3], [0], [1]]]

SAMPLES = [
    Sample("CTCLoss", BATCH, *LABELS, LENGTHS),
    Sample(
        "CTCLoss",
        BATCH.astype(np.float64),
        *LABELS,
        LENGTHS,
        rtol=1e-5,
        note="TensorFlow adds logarithms in single precision",
    ),
    Sample("CTCLoss", BATCH, *LABELS, LENGTHS, ctc_merge_repeated=False),
    Sample("CTCLoss", BATCH, *LABELS, LENGTHS, preprocess_collapse_repeated=True),
    Sample("CTCLoss", BATCH, *LABELS, SHORT, grad=False, note="one has no path"),
    Sample("CTCLoss", BATCH, *LABELS, i32([4, 0, 1]), ignore_longer_outputs_than_inputs=True),
    Sample("CTCLoss", BATCH, *LABELS, i32([4, 0, 1]), note="not enough time"),
    Sample("CTCLoss", BATCH, LABELS[0][:3], LABELS[1][:3], LENGTHS, note="no labels"),
    Sample("CTCLoss", BATCH, LABELS[0], i32([3, 1, 2, 1, 1]), LENGTHS, note="after the blank"),
    Sample("CTCLoss", BATCH, LABELS[0], i32([0, -1, 2, 1, 1]), LENGTHS, note="negative"),
    Sample("CTCLoss", BATCH, *LABELS, i32([4, 2, 6]), note="longer than there is time"),
    Sample("CTCGreedyDecoder", BATCH, LENGTHS),
    Sample("CTCGreedyDecoder", BATCH.astype(np.float64), LENGTHS, merge_repeated=True),
    Sample("CTCGreedyDecoder", PEAKS, i32([5]), merge_repeated=True),
    Sample("CTCGreedyDecoder", PEAKS, i32([5])),
    Sample("CTCGreedyDecoder", PEAKS, i32([0])),
    Sample("CTCGreedyDecoder", PEAKS, i32([6])),
    Sample("CTCBeamSearchDecoder", BATCH, LENGTHS, beam_width=4, top_paths=1),
    Sample("CTCBeamSearchDecoder", BATCH, LENGTHS, beam_width=10, top_paths=3),
    Sample(
        "CTCBeamSearchDecoder", BATCH, LENGTHS, beam_width=10, top_paths=3, merge_repeated=False
    ),
    Sample(
        "CTCBeamSearchDecoder",
        _scores(8, 2, 12, np.float64),
        i32([8, 6]),
        beam_width=7,
        top_paths=7,
        merge_repeated=False,
        rtol=1e-5,
        note="a narrow beam",
    ),
    Sample("CTCBeamSearchDecoder", BATCH, LENGTHS, beam_width=2, top_paths=3),
    Sample("CTCBeamSearchDecoder", BATCH[:, :, 2:], i32([1, 1, 1]), beam_width=5, top_paths=3),
]
