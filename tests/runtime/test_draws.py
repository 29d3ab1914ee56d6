"""Random nodes that draw alike, in one loop: the values that each draws by itself."""

import numpy as np

import weft as tf
from weft.ops.kit.philox import initial_state
from weft.passes.devices import describe
from weft.passes.prune import prune
from weft.runtime.xla import compile, region, tracer
from weft.runtime.xla.compile import load
from weft.runtime.xla.draws import draw_alike


def states_of(tensors):
    nodes = [node for node in prune([], tensors, []).nodes if node.definition.takes_rng]
    return {node: initial_state(node.attrs["seed"], node.attrs["seed2"]) for node in nodes}


def test_nodes_of_one_shape_and_type_draw_what_they_would_alone(sess):
    tensors = [tf.truncated_normal([31, 7], seed=i) for i in range(5)]
    tensors += [tf.truncated_normal([7, 31], seed=i) for i in range(4)]
    tensors += [tf.truncated_normal([31, 7], seed=i, dtype=tf.float64) for i in range(4)]
    states = states_of(tensors)
    found = load().jit(
        lambda rngs: list(draw_alike(dict(zip(states, rngs, strict=True))).values())
    )(list(states.values()))
    by_name = {node.name: value for node, value in zip(states, found, strict=True)}
    for tensor, expected in zip(tensors, sess.run(tensors), strict=True):
        drawn = by_name[tensor.op.inputs[0].op.inputs[0].op.name]
        assert drawn.dtype == expected.dtype
        np.testing.assert_allclose(drawn, expected, rtol=1e-5)


def test_others_are_left_to_themselves():
    few = [tf.truncated_normal([31, 7], seed=i) for i in range(3)]
    plain = [tf.random_uniform([31, 7], seed=i) for i in range(9)]
    fed = [tf.truncated_normal(tf.placeholder(tf.int32, [2]), seed=i) for i in range(9)]
    large = [tf.truncated_normal([1 << 14, 1 << 12], seed=i) for i in range(9)]
    assert draw_alike(states_of([*few, *plain, *fed, *large])) == {}


def test_programs_for_accelerators_draw_alike(monkeypatch):
    monkeypatch.setattr(compile, "describe", lambda name: describe("/device:gpu:0"))
    monkeypatch.setattr(region, "HEAVY", 0.0)
    drawn = []
    monkeypatch.setattr(tracer, "draw_alike", lambda s: drawn.append(draw_alike(s)) or drawn[-1])

    def run():
        with tf.Graph().as_default(), tf.Session() as sess:
            tensors = [tf.truncated_normal([31, 7], seed=i) * 2 for i in range(5)]
            return [sess.run(tensors) for _ in range(2)]

    together = run()
    assert len(drawn[0]) == 5
    monkeypatch.undo()
    for found, expected in zip(together, run(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
