"""Graphs cut by device, compared as they are printed."""

import re
import textwrap

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.ops.devices.transfer import key
from weft.passes.devices import DeviceSet
from weft.passes.inline import inline
from weft.passes.partition import PLAIN, PartitionOptions, partition
from weft.passes.place.place import place
from weft.passes.prune import prune
from weft.runtime.debug.dump import text

TASK = "/job:localhost/replica:0/task:0"
CPUS = DeviceSet.of(f"{TASK}/device:CPU:{i}" for i in range(3))


def parts_of(fetches=(), feeds=(), targets=(), options=PLAIN):
    graph = prune(list(feeds), list(fetches), [getattr(t, "op", t) for t in targets])
    inline(graph)
    place(graph, CPUS)
    return partition(graph, options)


def cut(*arguments, **keywords):
    """Every partition as text: its device, which feeds and fetches it has, its graph."""
    return "".join(
        f"{part.device[-5:]} feeds {part.feeds} fetches {part.fetches}\n{text(part.graph)}"
        for part in parts_of(*arguments, **keywords)
    )


def same(got, wanted):
    assert [line.rstrip() for line in got.splitlines()] == [
        line.rstrip() for line in textwrap.dedent(wanted).strip("\n").splitlines()
    ]


def count(got, kind):
    return got.count(f"= {kind}(")


class TestReads:
    def test_a_read_on_another_device_waits_for_what_its_user_waits_for(self):
        with tf.device("/cpu:1"):
            v = tf.Variable([2.0, 3.0])
        with tf.device("/cpu:0"):
            update = tf.assign_sub(v, [1.0, 1.0])
            with tf.control_dependencies([update]):
                value = v.read_value()
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(v.initializer)
            assert session.run(value).tolist() == [1, 2]
            assert session.run(value).tolist() == [0, 1]


class TestData:
    def test_one_transfer_for_all_users(self):
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/cpu:1"):
            a = tf.sqrt(x, name="a")
        with tf.device("/cpu:0"):
            b, c = tf.add(a, x, name="b"), tf.negative(a, name="c")
        same(cut([c, b, a], [x]), """
            CPU:1 feeds [0] fetches [2]
            _feed_0_x = _Arg() -> float32
            a = Sqrt(_feed_0_x) -> float32
            a/_1 = _Send(a)
            fetch a
            target a/_1
            CPU:0 feeds [0] fetches [0, 1]
            _feed_0_x = _Arg() -> float32
            a/_2 = _Recv() -> float32
            b = Add(a/_2, _feed_0_x) -> float32
            c = Neg(a/_2) -> float32
            fetch c, b
            """)  # fmt: skip

    def test_one_transfer_for_each_destination(self):
        with tf.device("/cpu:0"):
            a = tf.random_uniform([2], name="a")
        users = []
        for i in (1, 2):
            with tf.device(f"/cpu:{i}"):
                users += [tf.negative(a), tf.exp(a)]
        assert count(cut(users), "_Send") == count(cut(users), "_Recv") == 2

    def test_every_output_travels_by_itself(self):
        x = tf.placeholder(tf.float32, [4], name="x")
        with tf.device("/cpu:1"):
            values, numbers = tf.nn.top_k(x, 2, name="top")
        with tf.device("/cpu:0"):
            y = tf.add(values, tf.cast(numbers, tf.float32), name="y")
        got = cut([y], [x])
        assert "_Send(top)" in got and "_Send(top:1)" in got
        assert count(got, "_Recv") == 2

    def test_there_and_back(self):
        x = tf.placeholder(tf.float32, [], name="x")
        with tf.device("/cpu:1"):
            a = tf.exp(x, name="a")
        with tf.device("/cpu:0"):
            b = tf.negative(a, name="b")
        with tf.device("/cpu:1"):
            c = tf.multiply(a, b, name="c")
        same(cut([c], [x]), """
            CPU:1 feeds [0] fetches [0]
            _feed_0_x = _Arg() -> float32
            a = Exp(_feed_0_x) -> float32
            a/_1 = _Send(a)
            b/_4 = _Recv() -> float32
            c = Mul(a, b/_4) -> float32
            fetch c
            target a/_1
            CPU:0 feeds [] fetches []
            a/_2 = _Recv() -> float32
            b = Neg(a/_2) -> float32
            b/_3 = _Send(b)
            fetch
            target b/_3
            """)  # fmt: skip

    def test_both_ends_have_one_key(self):
        with tf.device("/cpu:1"):
            a = tf.random_uniform([2], name="a")
        with tf.device("/cpu:0"):
            b = tf.negative(a, name="b")
        options = PartitionOptions(incarnations={f"{TASK}/device:CPU:1": 255})
        ends = [
            n for part in parts_of([b], options=options) for n in part.graph.nodes
            if n.definition.transfer
        ]  # fmt: skip
        assert [n.type for n in ends] == ["_Send", "_Recv"]
        [found] = {key(n.attrs) for n in ends}
        source, incarnation, destination, name = found.split(";")
        assert source.endswith("CPU:1") and destination.endswith("CPU:0")
        assert incarnation == f"{255:016x}" and name.startswith("edge_") and name.endswith("_a")

    def test_a_graph_on_one_device_is_left_alone(self):
        with tf.device("/cpu:1"):
            y = tf.negative(tf.constant([1.0, 2.0]), name="y")
        [part] = parts_of([y])
        assert part.device.endswith("CPU:1") and "_Send" not in text(part.graph)

    def test_a_value_of_a_variable_travels(self):
        with tf.device("/cpu:1"):
            v = tf.get_variable("v", [2], use_resource=False)
        with tf.device("/cpu:0"):
            y = tf.negative(v, name="y")
        got = cut([y])
        assert "v = VariableV2() -> float32_ref" in got and "_Send(v/read)" in got

    def test_a_resource_does_not_travel(self):
        with tf.device("/cpu:1"):
            v = tf.get_variable("v", [2], use_resource=True)
        y = v.read_value()
        graph = prune([], [y], [])
        for node in graph.nodes:
            node.device = f"/device:CPU:{int(node.type == 'VarHandleOp')}"
        with pytest.raises(errors.InternalError, match="uses a resource of"):
            partition(graph)


class TestCopies:
    def test_constants_are_copied(self):
        one = tf.constant([1.0, 2.0], name="one")
        with tf.device("/cpu:1"):
            a = tf.negative(one, name="a")
        with tf.device("/cpu:2"):
            b = tf.exp(one, name="b")
        same(cut([a, b]), """
            CPU:1 feeds [] fetches [0]
            one = Const() -> float32
            a = Neg(one) -> float32
            fetch a
            CPU:2 feeds [] fetches [1]
            one = Const() -> float32
            b = Exp(one) -> float32
            fetch b
            """)  # fmt: skip

    def test_a_constant_that_waits_is_not_copied(self):
        x = tf.placeholder(tf.float32, [], name="x")
        with tf.device("/cpu:1"):
            a = tf.exp(x, name="a")
            with tf.control_dependencies([a]):
                late = tf.constant(1.0, name="late")
        with tf.device("/cpu:0"):
            y = tf.negative(late, name="y")
        got = cut([y], [x])
        assert count(got, "Const") == 1 and "_Send(late)" in got

    def test_feeds_go_where_they_are_used(self):
        x, y, z = (tf.placeholder(tf.float32, [], name=name) for name in "xyz")
        with tf.device("/cpu:1"):
            a = tf.add(x, y, name="a")
        with tf.device("/cpu:0"):
            b = tf.add(a, y, name="b")
        parts = parts_of([b, z], [x, y, z])
        assert [part.feeds for part in parts] == [[0, 1, 2], [1]]
        assert [part.fetches for part in parts] == [[1], [0]]  # what nobody uses: to the first
        assert not [n for part in parts for n in part.graph.nodes if n.type == "Placeholder"]

    def test_shapes_are_taken_where_the_tensor_is(self):
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.device("/cpu:1"):
            a = tf.exp(x, name="a")
            of_a, of_x = tf.shape(a, name="of_a"), tf.shape(x, name="of_x")
        with tf.device("/cpu:0"):
            b = tf.reshape(tf.negative(a, name="n"), of_a, name="b")
            c = tf.negative(of_x, name="c")
        same(cut([b, c], [x]), """
            CPU:1 feeds [0] fetches []
            _feed_0_x = _Arg() -> float32
            a = Exp(_feed_0_x) -> float32
            of_a = Shape(a) -> int32
            a/_1 = _Send(a)
            of_x = Shape(_feed_0_x) -> int32
            fetch
            target a/_1
            CPU:0 feeds [0] fetches [0, 1]
            _feed_0_x = _Arg() -> float32
            a/_2 = _Recv() -> float32
            of_a/_3 = Shape(a/_2) -> int32
            n = Neg(a/_2) -> float32
            b = Reshape(n, of_a/_3) -> float32
            of_x/_4 = Shape(_feed_0_x) -> int32
            c = Neg(of_x/_4) -> int32
            fetch b, c
            """)  # fmt: skip

    def test_a_shape_alone_travels_as_a_shape(self):
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.device("/cpu:1"):
            n = tf.shape(tf.exp(x, name="big"), name="n")
        with tf.device("/cpu:0"):
            y = tf.negative(n, name="y")
        assert "_Send(n)" in cut([y], [x])


class TestControls:
    def build(self, use_value):
        x = tf.placeholder(tf.float32, [], name="x")
        with tf.device("/cpu:1"):
            a = tf.exp(x, name="a")
        with tf.device("/cpu:0"), tf.control_dependencies([a]):
            return x, tf.add(x, a if use_value else x, name="y")

    def test_a_signal_is_sent(self):
        x, y = self.build(use_value=False)
        same(cut([y], [x]), """
            CPU:1 feeds [0] fetches []
            _feed_0_x = _Arg() -> float32
            a = Exp(_feed_0_x) -> float32
            a/_1 = Const(^a) -> float32
            a/_2 = _Send(a/_1)
            fetch
            target a/_2
            CPU:0 feeds [0] fetches [0]
            _feed_0_x = _Arg() -> float32
            a/_3 = _Recv() -> float32
            y = Add(_feed_0_x, _feed_0_x, ^a/_3) -> float32
            fetch y
            """)  # fmt: skip

    def test_a_value_is_signal_enough(self):
        x, y = self.build(use_value=True)
        got = cut([y], [x])
        assert count(got, "_Send") == 1 and "y = Add(_feed_0_x, a/_2) -> float32" in got

    def test_a_value_that_is_used_later_is_signal_enough(self):
        x = tf.placeholder(tf.float32, [], name="x")
        with tf.device("/cpu:1"):
            a = tf.exp(x, name="a")
        with tf.device("/cpu:0"):
            with tf.control_dependencies([a]):
                b = tf.negative(x, name="b")
            c = tf.negative(a, name="c")
        got = cut([b, c], [x])
        assert count(got, "_Send") == 1 and "b = Neg(_feed_0_x, ^a/_2)" in got

    def test_one_signal_for_all_who_wait(self):
        with tf.device("/cpu:1"):
            first = tf.no_op("first")
        with tf.device("/cpu:0"), tf.control_dependencies([first]):
            both = [tf.no_op("second"), tf.no_op("third")]
        got = cut(targets=both)
        assert count(got, "_Send") == 1 and got.count("NoOp(^first/_3)") == 2

    def test_a_group_over_devices(self):
        made = []
        for i in range(3):
            with tf.device(f"/cpu:{i}"):
                made.append(tf.no_op(f"n{i}"))
        got = cut(targets=[tf.group(*made, name="all")])
        assert count(got, "_Send") == count(got, "_Recv") > 0


class TestHalves:
    def test_32_bit_floats_travel_as_16(self):
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/cpu:1"):
            a, whole = tf.exp(x, name="a"), tf.cast(x, tf.int32, name="whole")
        with tf.device("/cpu:0"):
            y, z = tf.negative(a, name="y"), tf.negative(whole, name="z")
        same(cut([y, z], [x], options=PartitionOptions(as_bfloat16=True)), """
            CPU:1 feeds [0] fetches []
            _feed_0_x = _Arg() -> float32
            a = Exp(_feed_0_x) -> float32
            a/cast/_1 = Cast(a) -> bfloat16
            a/_2 = _Send(a/cast/_1)
            whole = Cast(_feed_0_x) -> int32
            whole/_5 = _Send(whole)
            fetch
            target a/_2, whole/_5
            CPU:0 feeds [] fetches [0, 1]
            a/_3 = _Recv() -> bfloat16
            a/_3/cast/_4 = Cast(a/_3) -> float32
            y = Neg(a/_3/cast/_4) -> float32
            whole/_6 = _Recv() -> int32
            z = Neg(whole/_6) -> int32
            fetch y, z
            """)  # fmt: skip

    def test_one_operation_can_ask_for_it(self):
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/cpu:1"):
            a, b = tf.exp(x, name="a"), tf.sqrt(x, name="b")
        a.op._set_attr("_bfloat16_sendrecv", tf.AttrValue(b=True))
        with tf.device("/cpu:0"):
            y = tf.add(a, b, name="y")
        got = cut([y], [x])
        assert got.count("-> bfloat16") == 2 and "_Send(b)" in got


def doubled(limit, where="/cpu:1"):
    def body(i, v):
        with tf.device(where):
            v = tf.multiply(v, 2.0, name="double")
        return i + 1, v

    with tf.device("/cpu:0"):
        return tf.while_loop(lambda i, v: i < limit, body, [0, tf.constant(1.0)], name="w")[1]


# What the device that does not decide has of a loop: its multiplication and a loop of its own.
OTHER_DEVICE = """
    _loop/_1 = Const() -> float32
    _loop/_2 = Enter(_loop/_1) -> float32
    _loop/_3 = Merge(_loop/_2, _loop/_5) -> float32 int32
    w/Identity/_19 = _Recv(^_loop/_3) -> float32
    w/double/y = Const(^w/Identity/_19) -> float32
    w/LoopCond/_16 = _Recv(^_loop/_3) -> bool
    _loop/_4 = Switch(_loop/_3, w/LoopCond/_16) -> float32 float32
    _loop/_5 = NextIteration(_loop/_4:1) -> float32
    w/Identity_1/_12 = _Recv(^_loop/_3) -> float32
    w/double = Mul(w/Identity_1/_12, w/double/y) -> float32
    w/double/_13 = _Send(w/double)
    fetch
    target w/double/_13
    """


class TestLoops:
    def test_a_loop_over_two_devices(self):
        parts = parts_of([doubled(3)])
        home, other = (text(part.graph) for part in parts)
        assert [part.device[-5:] for part in parts] == ["CPU:0", "CPU:1"]
        same(other.replace("w/LoopCond/_cloop", "_loop"), OTHER_DEVICE)
        assert count(home, "LoopCond") == 1
        assert count(other, "Merge") == count(other, "NextIteration") == 1
        assert count(other, "_Recv") == count(home, "_Send") == 3  # verdict, v, a signal
        assert count(other, "_Send") == count(home, "_Recv") == 1

    def test_names_are_those_that_a_graph_def_may_have(self):
        names = [node.name for part in parts_of([doubled(3)]) for node in part.graph.nodes]
        assert [n for n in names if not re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.\-/]*", n)] == []

    def test_in_a_cluster_nobody_waits_for_a_receive_that_may_be_dead(self):
        for part in parts_of([doubled(3)], options=PartitionOptions(incarnations={})):
            waited = [c for n in part.graph.nodes for c in n.controls]
            assert not any("_may_be_dead" in n.attrs for n in waited)
            tokens = [n for n in waited if n.type == "Identity" and "/_" in n.name]
            assert all(n.inputs[0][0].type == "_Recv" for n in tokens)
            assert tokens or part.device.endswith("CPU:0")

    def test_receives_belong_to_their_iteration(self):
        for part in parts_of([doubled(3)]):
            for node in part.graph.nodes:
                if node.definition.transfer == "recv":
                    [merge] = node.controls
                    assert merge.type == "Merge" and node.attrs["_may_be_dead"]

    def test_the_control_loop_is_of_the_same_frame(self):
        enters = [n for p in parts_of([doubled(3)]) for n in p.graph.nodes if n.type == "Enter"]
        assert {n.attrs["frame_name"] for n in enters} == {"w/while_context"}
        assert {n.attrs["parallel_iterations"] for n in enters} == {10}

    def test_a_loop_on_one_device_gets_none(self):
        assert "_cloop" not in cut([doubled(3, "/cpu:0")])

    def test_an_inner_loop_starts_from_the_outer_one(self):
        def outer(i, v):
            return i + 1, doubled(2) * v

        with tf.device("/cpu:0"):
            y = tf.while_loop(lambda i, v: i < 2, outer, [0, tf.constant(1.0)], name="out")[1]
        other = next(p for p in parts_of([y]) if p.device.endswith("CPU:1"))
        merges = [n for n in other.graph.nodes if n.type == "Merge"]
        enters = [n for n in other.graph.nodes if n.type == "Enter"]
        assert len(merges) == len(enters) == 2
        assert any(source in merges for n in enters for source, _ in n.inputs)

    def test_branches_send_dead_values(self):
        p = tf.placeholder(tf.bool, [], name="p")
        with tf.device("/cpu:0"):
            x = tf.random_uniform([], name="x")
            y = tf.cond(p, lambda: other_device(x), lambda: tf.negative(x), name="c")
        ends = [n for part in parts_of([y], [p]) for n in part.graph.nodes if n.definition.transfer]
        assert ends and all(n.attrs.get("_may_be_dead") for n in ends)


def other_device(x):
    with tf.device("/cpu:1"):
        return tf.exp(x, name="far")


def test_partitions_of_a_step_compute_what_it_does():
    """All of the above at once, run."""
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.device("/cpu:1"):
        a = tf.exp(x)
        n = tf.shape(a)
    with tf.device("/cpu:0"), tf.control_dependencies([a]):
        b = tf.reshape(a * 2.0, n) + doubled(3)
    with tf.device("/cpu:2"):
        c = b + tf.cast(n[0], tf.float32)
    fed = np.array([0.0, 1.0], np.float32)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as sess:
        got = sess.run(c, {x: fed})
    np.testing.assert_allclose(got, np.exp(fed) * 2 + 8 + 2, rtol=1e-6)
