"""tf.contrib.labeled_tensor: axes by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from weft.contrib import labeled_tensor as lt

import weft as tf

VALUES = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
COLORS = ["red", "green", "blue"]


def made() -> Any:
    return lt.LabeledTensor(tf.constant(VALUES), ["x", ("color", COLORS), "y"])


def value(tensor: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensor)


def axes(tensor: Any) -> list[Any]:
    return [(axis.name, axis.labels or axis.size) for axis in tensor.axes.values()]


def test_axes() -> None:
    axis = lt.Axis("color", COLORS)
    assert (len(axis), axis.index("blue"), axis.labels) == (3, 2, tuple(COLORS))
    assert (
        axis == lt.as_axis(("color", COLORS)) and repr(lt.Axis("x", 2)) == "Axis('x', Dimension(2))"
    )
    assert lt.Axis("x", 0).labels == () and lt.Axis("x", None).size is None
    found = lt.Axes([("x", 2), axis])
    assert list(found) == ["x", "color"] and list(found.remove("x")) == ["color"]
    for wrong, message in (
        (lambda: lt.Axis("x", ["a", "a"]), "Tick labels must be unique"),
        (lambda: lt.Axis("x", 2).index("a"), "does not have tick labels"),
        (lambda: len(lt.Axis("x", None)), "unknown length"),
        (lambda: lt.Axes([("x", 1), ("x", 2)]), "Duplicate axis name: x"),
        (lambda: lt.LabeledTensor(tf.ones([2]), []), "rank was not equal"),
        (lambda: lt.LabeledTensor(tf.ones([2]), [("x", 3)]), "axis size 3 does not match"),
        (lambda: lt.convert_to_labeled_tensor(tf.ones([2])), "cannot automatically convert"),
        (lambda: lt.check_axis_order(made()), "an explicit axis order must be provided"),
        (lambda: made()[0], "must have the same length as the Tensor rank"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()


PARTS = [
    (lambda t: t[0, 1:, :2], [("color", ("green", "blue")), ("y", 2)], VALUES[0, 1:, :2]),
    (lambda t: lt.select(t, {"color": "green"}), [("x", 2), ("y", 4)], VALUES[:, 1]),
    (lambda t: lt.select(t, {"color": slice("green", "blue")}),
     [("x", 2), ("color", ("green", "blue")), ("y", 4)], VALUES[:, 1:]),
    (lambda t: lt.select(t, {"color": ["blue", "red"]}),
     [("x", 2), ("color", ("blue", "red")), ("y", 4)], VALUES[:, [2, 0]]),
    (lambda t: lt.transpose(t, ["y", "x", "color"]),
     [("y", 4), ("x", 2), ("color", tuple(COLORS))], VALUES.transpose(2, 0, 1)),
    (lambda t: lt.concat([t, t], "x"),
     [("x", 4), ("color", tuple(COLORS)), ("y", 4)], np.concatenate([VALUES, VALUES])),
    (lambda t: lt.pack([t[0, :, :], t[1, :, :]], ("z", ["a", "b"]), 1),
     [("color", tuple(COLORS)), ("z", ("a", "b")), ("y", 4)], VALUES.transpose(1, 0, 2)),
    (lambda t: lt.unpack(t, "y")[3], [("x", 2), ("color", tuple(COLORS))], VALUES[..., 3]),
    (lambda t: lt.reshape(t, ["x", "color"], ["both"]), [("both", 6), ("y", 4)],
     VALUES.reshape(6, 4)),
    (lambda t: lt.rename_axis(t, "y", "time"),
     [("x", 2), ("color", tuple(COLORS)), ("time", 4)], VALUES),
    (lambda t: lt.squeeze(t[:1, :, :]), [("color", tuple(COLORS)), ("y", 4)], VALUES[0]),
    (lambda t: lt.reduce_sum(t, ["x", ("y", "total")]),
     [("color", tuple(COLORS)), ("y", ("total",))], VALUES.sum((0, 2))[:, None]),
    (lambda t: lt.reduce_max(t), [], VALUES.max()),
    (lambda t: lt.tile(t, {"y": 2}), [("x", 2), ("color", tuple(COLORS)), ("y", 8)],
     np.tile(VALUES, 2)),
    (lambda t: lt.pad(t, {"x": (1, 0), "color": (["black"], [])}),
     [("x", 3), ("color", ("black", *COLORS)), ("y", 4)],
     np.pad(VALUES, [(1, 0), (1, 0), (0, 0)])),
    (lambda t: lt.map_fn(lambda part: part * 2.0, t),
     [("x", 2), ("color", tuple(COLORS)), ("y", 4)], VALUES * 2),
    (lambda t: lt.foldl(lt.add, t, lt.zeros_like(t[0, :, :])),
     [("color", tuple(COLORS)), ("y", 4)], VALUES.sum(0)),
    (lambda t: lt.boolean_mask(t, lt.constant([True, False], axes=["x"])),
     [("x", None), ("color", tuple(COLORS)), ("y", 4)], VALUES[:1]),
    (lambda t: lt.where(t > 11.0, t, -t), [("x", 2), ("color", tuple(COLORS)), ("y", 4)],
     np.where(VALUES > 11, VALUES, -VALUES)),
    (lambda t: 1 - lt.cast(t, tf.int32) % 5,
     [("x", 2), ("color", tuple(COLORS)), ("y", 4)], 1 - VALUES.astype(int) % 5),
    (lambda t: lt.matmul(t[0, :, :], t[1, 0, :]), [("color", tuple(COLORS))],
     VALUES[0] @ VALUES[1, 0]),
    (lambda t: lt.expand_dims(t, ["x", "color", ("run", 7), "y"]),
     [("x", 2), ("color", tuple(COLORS)), ("run", (7,)), ("y", 4)], VALUES[:, :, None]),
    (lambda t: lt.constant(3.0, axes=[("x", 2)]), [("x", 2)], np.array([3.0, 3.0])),
]  # fmt: skip


@pytest.mark.parametrize(("make", "shape", "expected"), PARTS)
def test_operations(make: Any, shape: Any, expected: Any) -> None:
    found = make(made())
    assert axes(found) == shape
    np.testing.assert_allclose(value(found), expected)


def test_tensors_are_aligned_by_name() -> None:
    a = lt.constant([1.0, 2.0], axes=["x"])
    b = lt.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], axes=["x", "y"])
    product = a * b
    assert axes(product) == [("x", 2), ("y", 3)]
    np.testing.assert_allclose(value(product), [[1, 2, 3], [8, 10, 12]])
    c = lt.constant([1.0, 2.0, 3.0], axes=["y"])
    assert axes(a + c) == [("x", 2), ("y", 3)]
    with lt.axis_order_scope(["y", "x"]):
        assert axes(a + c) == [("y", 3), ("x", 2)]
        assert axes(lt.impose_axis_order(b)) == [("y", 3), ("x", 2)]
        with pytest.raises(lt.AxisOrderError, match="do not appear in the same order"):
            lt.add(b, c)
    with pytest.raises(lt.AxisOrderError, match="No consistent axis order"):
        lt.add(b, lt.transpose(b))
    with pytest.raises(ValueError, match="Mismatched 'x' axis"):
        lt.add(a, lt.constant([1.0, 2.0, 3.0], axes=["x"]))


def test_coders() -> None:
    coder = lt.ReshapeCoder(["x", "color"], ["depth"])
    given = made()
    with pytest.raises(ValueError, match="decode called before encode"):
        coder.decode(given)
    assert axes(coder.decode(coder.encode(given) * 2.0)) == axes(given)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: lt.select(t, {"z": 1}), ValueError, "does not have an axis named z"),
        (lambda t: lt.select(t, {"x": 1}), ValueError, "does not have labels"),
        (lambda t: lt.reshape(t, ["x", "y"], ["z"]), ValueError, "are not a slice of axis names"),
        (lambda t: lt.tile(t, {"color": 2}), ValueError, "cannot tile axes with tick labels"),
        (lambda t: lt.squeeze(t, ["x"]), ValueError, "cannot squeeze axis with size greater"),
        (lambda t: lt.matmul(t, t), NotImplementedError, "rank 2 or less"),
        (lambda t: lt.reduce_sum(t, "z"), ValueError, "Axis z not in axes"),
        (lambda t: lt.concat([t, t[:, :, :2]], "x"), ValueError, "Mismatched shared axes"),
        (lambda t: lt.random_crop(t, {"z": 1}), ValueError, "Selection axis z not in axes"),
    ],
)
def test_what_cannot_be(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(made())


def test_batches_and_crops() -> None:
    (found,) = lt.batch([made()], 3)
    assert axes(found)[0] == ("batch", 3) and len(axes(found)) == 4
    (rows,) = lt.shuffle_batch([made()], 2, enqueue_many=True, allow_smaller_final_batch=True)
    assert axes(rows)[0] == ("batch", None)
    assert axes(lt.random_crop(made(), {"y": 2}))[2] == ("y", 2)


# ---- inputs and networks -------------------------------------------------------------------------


def test_features_of_examples_have_axes() -> None:
    example = tf.train.Example()
    example.features.feature["a"].int64_list.value.extend([1, 2])
    serialized = example.SerializeToString()
    feature = {"a": lt.FixedLenFeature([("x", 2)], tf.int64)}
    batch = lt.LabeledTensor(tf.constant([serialized]), ["batch"])
    parsed = lt.parse_example(batch, feature)["a"]
    single = lt.parse_single_example(tf.constant(serialized), feature)["a"]
    assert [list(each.axes) for each in (parsed, single)] == [["batch", "x"], ["x"]]
    with tf.Session() as session:
        assert session.run(parsed.tensor).tolist() == [[1, 2]]
        assert session.run(single.tensor).tolist() == [1, 2]
    with pytest.raises(ValueError, match="axes with unknown size are not supported"):
        lt.parse_example(batch, {"a": lt.FixedLenFeature([("x", None)], tf.int64)})


def test_a_placeholder_has_axes() -> None:
    fed = lt.placeholder(tf.float32, ["batch", ("x", ["a", "b"])], name="fed")
    assert fed.tensor.shape.as_list() == [None, 2]
    assert fed.axes["x"].labels == ("a", "b")


def test_activations_and_losses_keep_axes() -> None:
    logits = lt.LabeledTensor(tf.constant([[-1.0, 2.0]]), ["row", "class"])
    labels = lt.LabeledTensor(tf.constant([[0.0, 1.0]]), ["row", "class"])
    active = lt.nn.relu(logits)
    loss = lt.nn.sigmoid_cross_entropy_with_logits(logits, labels)
    assert list(active.axes) == list(loss.axes) == ["row", "class"]
    with tf.Session() as session:
        assert session.run(active.tensor).tolist() == [[0, 2]]
        expected = np.log1p(np.exp([[-1.0, -2.0]]))
        np.testing.assert_allclose(session.run(loss.tensor), expected, rtol=1e-5)
