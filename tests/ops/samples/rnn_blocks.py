"""Samples of weft/ops/nn/rnn_blocks.py."""

import numpy as np

from tests.ops.sample import Sample, i64, skip

BATCH, DEPTH, UNITS, TIME = 2, 3, 4, 5


def _made(*shape, dtype="f4", seed=0):
    return np.random.RandomState(seed + sum(shape)).uniform(-1, 1, shape).astype(dtype)


def _weights(dtype="f4"):
    peepholes = [_made(UNITS, dtype=dtype, seed=i) for i in range(3)]
    return [_made(DEPTH + UNITS, 4 * UNITS, dtype=dtype), *peepholes, _made(4 * UNITS, dtype=dtype)]


def _state(dtype="f4"):
    return [_made(BATCH, UNITS, dtype=dtype, seed=i) for i in (5, 6)]


def _outputs(*leading):
    """i, cs, f, o, ci, co, h: gates between 0 and 1."""
    parts = [_made(*leading, BATCH, UNITS, seed=10 + i) for i in range(7)]
    return [(part + 1) / 2 if i in (0, 2, 3) else part for i, part in enumerate(parts)]


CELL = (_made(BATCH, DEPTH), *_state(), *_weights())
HALF = (_made(BATCH, DEPTH, dtype="f2"), *_state("f2"), *_weights("f2"))
SEQUENCE = (_made(TIME, BATCH, DEPTH), *_state(), *_weights())
SEQUENCE_GRADS = [_made(TIME, BATCH, UNITS, seed=i) for i in (21, 22)]
GRU = (
    CELL[0], CELL[2], _made(DEPTH + UNITS, 2 * UNITS), _made(DEPTH + UNITS, UNITS),
    _made(2 * UNITS), _made(UNITS),
)  # fmt: skip

CUDNN = [
    skip(name, "TensorFlow has kernels for GPUs only; checked in tests/ops/nn/test_cudnn_rnn.py")
    for name in (
        "CudnnRNN CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3"
        " CudnnRNNCanonicalToParams CudnnRNNCanonicalToParamsV2 CudnnRNNParamsSize"
        " CudnnRNNParamsToCanonical CudnnRNNParamsToCanonicalV2 CudnnRNNV2 CudnnRNNV3"
    ).split()
]

SAMPLES = [
    *CUDNN,
    # Only `cs` and `h` have gradients, but samples weigh all outputs.
    Sample("LSTMBlockCell", *CELL, grad=False),
    Sample("LSTMBlockCell", *CELL, use_peephole=True, forget_bias=0.5, grad=False),
    Sample("LSTMBlockCell", *CELL, cell_clip=0.3, grad=False),
    Sample("LSTMBlockCell", *HALF, cell_clip=-1.0, grad=False, rtol=2e-3),
    *(
        Sample("LSTMBlockCellGrad", *CELL, *_outputs()[:6], *_state(), use_peephole=peephole)
        for peephole in (False, True)
    ),
    *(
        Sample("BlockLSTM", i64(n), *SEQUENCE, use_peephole=peephole, grad=False)
        for n, peephole in ((5, False), (5, True))
    ),
    Sample("BlockLSTMV2", i64(5), *SEQUENCE, grad=False),
    *(
        Sample(
            "BlockLSTMGrad",
            i64(5),
            *SEQUENCE,
            *_outputs(TIME),
            *SEQUENCE_GRADS,
            use_peephole=peephole,
            rtol=1e-5,
        )
        for peephole in (False, True)
    ),
    Sample(
        "BlockLSTMGradV2",
        i64(5),
        *SEQUENCE,
        *_outputs(TIME),
        *SEQUENCE_GRADS,
        use_peephole=False,
        rtol=1e-5,
    ),
    Sample("GRUBlockCell", *GRU, grad=False),
    Sample("GRUBlockCellGrad", *GRU, *_outputs()[:3], _made(BATCH, UNITS, seed=9), rtol=1e-5),
]
