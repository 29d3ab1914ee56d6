"""Operations that were removed give what they gave (tests/parity/record_old_graphs.py)."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.parity import record_old_graphs as recorded
from weft.core import errors


def test_results_are_tensorflows() -> None:
    kept = dict(np.load(recorded.DATA))
    found = recorded.answers(tf)
    assert set(found) == set(kept)
    for name, value in found.items():
        assert (value.dtype, value.shape) == (kept[name].dtype, kept[name].shape), name
        np.testing.assert_allclose(value, kept[name], rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", ["FFT", "IFFT", "FFT2D", "IFFT2D", "FFT3D", "IFFT3D"])
def test_transforms_of_batches(name: str) -> None:
    waves = np.exp(1j * np.arange(48).reshape(2, 2, 3, 4)).astype(np.complex64)
    old, new = (getattr(tf.raw_ops, each)(input=waves) for each in (f"Batch{name}", name))
    with tf.Session() as session:
        np.testing.assert_array_equal(*session.run([old, new]))


def test_an_array_of_the_second_version_in_a_loop() -> None:
    array = tf.raw_ops.TensorArrayV2(size=3, dtype=tf.float32)

    def body(i: tf.Tensor, flow: tf.Tensor) -> list[tf.Tensor]:
        value = tf.cast(i, tf.float32) * [1.0, 2.0]
        return [
            i + 1,
            tf.raw_ops.TensorArrayWriteV2(handle=array, index=i, value=value, flow_in=flow),
        ]

    _, flow = tf.while_loop(lambda i, flow: i < 3, body, [0, 0.0])
    grown = tf.raw_ops.TensorArrayGradV2(handle=array, flow_in=flow, source="gradients")
    size = tf.raw_ops.TensorArraySizeV2(handle=grown, flow_in=flow)
    rows = tf.raw_ops.TensorArrayGatherV2(
        handle=array, indices=[2, 1], flow_in=flow, dtype=tf.float32
    )
    with tf.Session() as session:
        values, count = session.run([rows, size])
        session.run(tf.raw_ops.TensorArrayCloseV2(handle=array))
    np.testing.assert_array_equal(values, [[2, 4], [1, 2]])
    assert count == 3


def test_a_dense_table_lacks_a_key() -> None:
    table = tf.raw_ops.MutableDenseHashTable(
        empty_key=tf.constant(-1, tf.int64), key_dtype=tf.int64, value_dtype=tf.int64
    )
    size = tf.raw_ops.LookupTableSize(table_handle=table)
    with (
        tf.Session() as session,
        pytest.raises(errors.InvalidArgumentError, match="Unknown input name: deleted_key"),
    ):
        session.run(size)
