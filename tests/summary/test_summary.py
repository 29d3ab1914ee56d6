"""Names, tags and collections of summary nodes."""

from __future__ import annotations

import pytest

import weft as tf


def parsed(sess: tf.Session, node: tf.Tensor) -> list:
    return list(tf.Summary.FromString(sess.run(node)).value)


def test_tags_are_the_names_of_nodes(sess: tf.Session) -> None:
    with tf.name_scope("outer"):
        first, second = tf.summary.scalar("inner", 1.0), tf.summary.scalar("inner", 2.0)
    assert [first.op.name, second.op.name] == ["outer/inner", "outer/inner_1"]
    assert [v.tag for n in (first, second) for v in parsed(sess, n)] == [
        "outer/inner",
        "outer/inner_1",
    ]


def test_a_family_comes_first(sess: tf.Session) -> None:
    with tf.name_scope("outer"):
        node = tf.summary.scalar("inner", 1.0, family="family")
    assert node.op.name == "outer/family/inner"
    assert parsed(sess, node)[0].tag == "family/outer/family/inner"


@pytest.mark.parametrize(("name", "node"), [("a b/c%", "a_b/c_"), ("//a", "a"), ("a-b.c", "a-b.c")])
def test_names_are_cleaned(name: str, node: str) -> None:
    assert tf.summary.scalar(name, 1.0).op.name == node


def test_collections() -> None:
    first = tf.summary.scalar("a", 1.0)
    second = tf.summary.histogram("b", [1.0], collections=["mine"])
    third = tf.summary.image("c", tf.zeros([1, 1, 1, 1]), collections=[])
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == [first]
    assert tf.get_collection("mine") == [second]
    merged = tf.summary.merge([first, third], collections=["merged"])
    assert tf.get_collection("merged") == [merged]
    assert merged.op.name == "Merge/MergeSummary"
    assert tf.summary.merge([first], name="named").op.name == "named/named"


def test_merge_all(sess: tf.Session) -> None:
    assert tf.summary.merge_all() is None
    with tf.name_scope("one"):
        tf.summary.scalar("a", 1.0)
    tf.summary.scalar("b", 2.0)
    assert [v.tag for v in parsed(sess, tf.summary.merge_all())] == ["one/a", "b"]
    assert [v.tag for v in parsed(sess, tf.summary.merge_all(scope="one"))] == ["one/a"]
    assert tf.summary.merge_all(key="none") is None


def test_text_is_for_the_text_plugin(sess: tf.Session) -> None:
    value = parsed(sess, tf.summary.text("note", tf.constant(["a", "b"])))[0]
    assert value.tag == "note" and value.metadata.plugin_data.plugin_name == "text"
    assert list(value.tensor.string_val) == [b"a", b"b"]
    with pytest.raises(ValueError, match="to have dtype string, got"):
        tf.summary.text("numbers", tf.constant(1.0))


def test_tensor_summary_takes_metadata(sess: tf.Session) -> None:
    node = tf.summary.tensor_summary(
        "t", tf.constant([1, 2]), summary_description="what", display_name="shown", family="f"
    )
    value = parsed(sess, node)[0]
    assert (value.tag, value.metadata.display_name) == ("f/f/t", "shown")
    assert value.metadata.summary_description == "what"
    assert tf.make_ndarray(value.tensor).tolist() == [1, 2]


def test_get_summary_description() -> None:
    node = tf.raw_ops.TensorSummary(tensor=[1.0], description='{"type_hint": "scalar"}')
    assert tf.summary.get_summary_description(node.op.node_def).type_hint == "scalar"
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(tf.constant(1).op.node_def)
