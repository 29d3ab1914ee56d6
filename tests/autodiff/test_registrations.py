"""Which operations have gradients: those of TensorFlow 1.15, listed in registrations.txt."""

from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.graph.op_def import GRADIENTS, REGISTRY

LISTED = dict(
    line.split() for line in Path(__file__).with_name("registrations.txt").read_text().splitlines()
)
# Gradients that TensorFlow 1.15 does not have: it gained most of them later.
MORE = {
    "CollectiveReduce", "Einsum", "EuclideanNorm", "IRFFT3D", "MaxPoolGradGradV2",
    "PartitionedCall", "RFFT3D", "RaggedTensorToTensor", "SegmentProd",
    "StatefulPartitionedCall", "StatelessCase",
    "SymbolicGradient", "TensorStridedSliceUpdate",
}  # fmt: skip
# Operations of later versions, for graphs that these make.
NEWER = {
    "BesselI0", "BesselI1", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1",
    "BesselK1e", "BesselY0", "BesselY1", "Dawsn", "Erfinv", "Expint", "FresnelCos", "FresnelSin",
    "DecodeImage", "DenseBincount", "Ndtri", "QuantizeAndDequantizeV4",
    "RaggedBincount", "RaggedCross", "SobolSample", "SparseBincount", "Spence",
    "StatelessRandomBinomial", "StatelessRandomGammaV2", "StatelessRandomGammaV3",
    "StatelessRandomPoisson", "StatelessRandomUniformFullInt",
    "BatchMatMulV3", "MatrixDiagPartV3", "MatrixDiagV3", "MatrixSetDiagV3",
    "StatelessRandomGetAlg", "StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg",
    "StatelessRandomNormalV2", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2",
    "StatelessRandomUniformV2", "StatelessTruncatedNormalV2", "TensorScatterMax",
    "TensorScatterMin", "Xlog1py", "DenseCountSparseOutput", "DisableCopyOnRead",
    "ImageProjectiveTransformV3", "RaggedCountSparseOutput", "SparseCountSparseOutput",
    "XlaDynamicSlice", "XlaDynamicUpdateSlice",
}  # fmt: skip
# Operations of contrib, whose registrations are not in the list.
CONTRIB = {
    "BytesInUse", "BytesLimit", "CreateTreeEnsembleVariable", "DecodeAudioV2", "DecodeLibsvm",
    "EncodeAudioV2", "FusedConv2DBiasActivation", "GradientTreesPrediction",
    "GradientTreesPredictionVerbose", "MaxBytesInUse", "PeriodicResampleOpGrad", "ReduceSliceMax",
    "ReduceSliceMin", "ReduceSliceProd", "ReduceSliceSum", "TreeEnsembleStampToken",
    "TreeEnsembleStats", "UpdateTreeEnsemble",
}  # fmt: skip
# Its gradient is a function that returns None.
NOTHING = {"LoopCond"}


def _registered(name):
    return "absent" if name not in GRADIENTS else "none" if GRADIENTS[name] is None else "gradient"


def test_registrations_are_tensorflows():
    differing = {
        name: (_registered(name), LISTED.get(name, "absent"))
        for name in REGISTRY
        if _registered(name) != LISTED.get(name, "absent")
    }
    assert set(differing) == MORE | NEWER | CONTRIB | NOTHING, differing


def _sparse(values):
    return tf.SparseTensor([[0], [1]], values, [2])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.py_func(np.square, [x], tf.float32),
        lambda x: tf.py_func(np.square, [x], tf.float32, stateful=False),
        lambda x: tf.sparse.concat(0, [_sparse(x), _sparse(x)]).values,
    ],
)
def test_nothing_flows_through(function):
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(function(x), x) == [None]


@pytest.mark.parametrize(
    "function, error",
    [
        (lambda x: tf.bitcast(tf.bitcast(x, tf.float32), tf.float32), LookupError),
        (lambda x: tf.raw_ops.Copy(input=x), LookupError),
        (lambda x: tf.sparse.maximum(_sparse(x), _sparse(x)).values, NotImplementedError),
    ],
)
def test_no_gradient_is_defined(function, error):
    x = tf.constant([1.0, 2.0])
    with pytest.raises(error):
        tf.gradients(function(x), x)


def test_a_program_may_add_what_is_missing():
    assert "Bitcast" not in GRADIENTS
    try:
        tf.RegisterGradient("Bitcast")(lambda op, grad: 3 * grad)
        x = tf.constant([1.0])
        with tf.Session() as session:
            assert session.run(tf.gradients(tf.bitcast(x, tf.float32), x))[0] == [3.0]
    finally:
        GRADIENTS.pop("Bitcast", None)


def test_scattering_into_a_list_is_differentiable():
    x = tf.constant([1.0, 2.0])
    first = tf.constant([5.0, 6.0, 7.0])
    handle = tf.raw_ops.TensorListFromTensor(tensor=first, element_shape=tf.zeros([0], tf.int32))
    changed = tf.raw_ops.TensorListScatterIntoExistingList(
        input_handle=handle, tensor=x, indices=[2, 0]
    )
    stacked = tf.raw_ops.TensorListStack(
        input_handle=changed, element_shape=tf.zeros([0], tf.int32), element_dtype=tf.float32
    )
    grads = tf.gradients(stacked * [1.0, 2.0, 3.0], [x, first])
    with tf.Session() as session:
        to_x, to_first = session.run(grads)
    assert to_x.tolist() == [3.0, 1.0]
    assert to_first.tolist() == [0.0, 2.0, 0.0]


def test_nccl_gradients():
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    total = tf.raw_ops.NcclReduce(input=[x, y], reduction="sum")
    copy = tf.raw_ops.NcclBroadcast(input=total, shape=[2])
    again = tf.raw_ops.NcclAllReduce(input=copy, reduction="sum", num_devices=1, shared_name="c")
    grads = tf.gradients([copy * 2.0, again * 3.0], [x, y])
    with tf.Session() as session:
        assert [g.tolist() for g in session.run(grads)] == [[5.0, 5.0]] * 2
    largest = tf.raw_ops.NcclReduce(input=[x, y], reduction="max")
    with pytest.raises(LookupError, match="No gradient defined for NcclReduce"):
        tf.gradients(largest, x)
