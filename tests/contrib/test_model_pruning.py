"""tf.contrib.model_pruning: masks, when they change, and what is masked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

PRUNING = tf.contrib.model_pruning


def _masked(spec: str, values: np.ndarray, sparsity: float = 0.5) -> Any:
    """The mask of some weights after one update."""
    weights = tf.get_variable("weights", initializer=tf.constant(values, tf.float32))
    product = PRUNING.apply_mask(weights, tf.get_variable_scope())
    assert product.op.name == "weights/masked_weight"
    settings = PRUNING.get_pruning_hparams().parse(spec)
    step = tf.train.get_or_create_global_step()
    pruning = PRUNING.Pruning(settings, step, tf.constant(sparsity))
    update = pruning.mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(product), values)
        session.run(update)
        mask, threshold = session.run([PRUNING.get_masks()[0], PRUNING.get_thresholds()[0]])
        np.testing.assert_array_equal(session.run(product), values * mask)
        assert session.run(PRUNING.get_weight_sparsity()) == [pytest.approx((mask == 0).mean())]
    return mask, threshold


def test_the_smallest_weights_are_masked() -> None:
    mask, threshold = _masked("", np.array([-4.0, 1.0, 3.0, -2.0]))
    assert (mask.tolist(), threshold) == ([1, 0, 1, 0], 3.0)


def test_blocks_are_masked_as_one() -> None:
    values = np.array([[1, 1, 9, 9], [1, 7, 0, 0], [5, 5, 2, 2]], float)
    mask, threshold = _masked("block_dims_map=[weights:2x2]", values)
    # Means of 2.5 and 4.5 above, of 5 and 2 in the row that is cut off.
    assert threshold == 4.5
    assert mask.tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0]]


def test_thresholds_decay_and_names_have_sparsities() -> None:
    spec = "threshold_decay=0.5,weight_sparsity_map=[weig:0.25],target_sparsity=0.5"
    mask, threshold = _masked(spec, np.array([4.0, 1.0, 3.0, 2.0]))
    # A quarter is to be masked: the threshold is 2, half of which is reached.
    assert (mask.tolist(), threshold) == ([1, 1, 1, 1], 1.0)


def test_sparsity_grows_and_masks_follow_now_and_then() -> None:
    PRUNING.apply_mask(tf.get_variable("w", initializer=tf.constant([1.0, 2.0, 3.0, 4.0])))
    step = tf.train.get_or_create_global_step()
    settings = PRUNING.get_pruning_hparams().parse(
        "pruning_frequency=2,begin_pruning_step=1,end_pruning_step=6,sparsity_function_end_step=4,"
        "sparsity_function_exponent=1,target_sparsity=0.5"
    )
    pruning = PRUNING.Pruning(settings)
    update, seen = pruning.conditional_mask_update_op(), []
    sparsity = tf.get_default_graph().get_tensor_by_name("model_pruning/sparsity:0")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(8):
            session.run(step.assign_add(1))
            session.run(update)
            seen.append(float(session.run(PRUNING.get_weight_sparsity()[0])))
        assert session.run(sparsity) == 0.5
    assert seen == [0.0, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("begin_pruning_step=5,end_pruning_step=3", "Pruning must begin before it can end"),
        ("target_sparsity=1.0", r"target_sparsity must be in range \[0,1\)"),
        ("weight_sparsity_map=[a:2.0]", "Weight sparsity can not exceed 1.0"),
        ("block_dims_map=[a:2]", "Expected 2 values for block dim for a"),
    ],
)
def test_settings_that_cannot_be(spec: str, said: str) -> None:
    tf.train.get_or_create_global_step()
    with pytest.raises(ValueError, match=said):
        PRUNING.Pruning(PRUNING.get_pruning_hparams().parse(spec))


def test_layers_and_cells_use_masked_weights() -> None:
    images = PRUNING.masked_conv2d(tf.ones([1, 4, 4, 2]), 3, 3, activation_fn=None)
    rows = PRUNING.masked_fully_connected(tf.ones([2, 5]), 4, activation_fn=None)
    cells = (PRUNING.MaskedBasicLSTMCell(3), PRUNING.MaskedLSTMCell(3))
    inputs = tf.ones([2, 4])
    outputs = [cell(inputs, cell.zero_state(2, tf.float32))[0] for cell in cells]
    results = [images, rows, *outputs]
    assert [mask.shape.as_list() for mask in PRUNING.get_masks()] == [
        [3, 3, 2, 3], [5, 4], [7, 12], [7, 12],
    ]  # fmt: skip
    assert [w.op.name for w in PRUNING.get_weights()][:2] == [
        "Conv/weights", "fully_connected/weights",
    ]  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert all(np.any(each) for each in session.run(results))
        session.run([mask.assign(tf.zeros_like(mask)) for mask in PRUNING.get_masks()])
        assert not any(np.any(each) for each in session.run(results))


def test_masks_are_stripped_from_a_checkpoint(tmp_path: Path) -> None:
    weights = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
    tf.identity(PRUNING.apply_mask(weights) * 10.0, name="out")
    (mask,) = PRUNING.get_masks()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(mask.assign([0.0, 1.0]))
        tf.train.Saver().save(session, str(tmp_path / "model"))
    tf.reset_default_graph()
    graph_def = PRUNING.graph_def_from_checkpoint(str(tmp_path), ["out"])
    stripped = PRUNING.strip_pruning_vars_fn(graph_def, ["out"])
    assert not any("mask" == node.name or node.name == "w" for node in stripped.node)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(stripped, name="")
        assert session.run("out:0").tolist() == [0.0, 20.0]
