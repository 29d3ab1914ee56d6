"""Session.run: fetches, feeds, errors, threads, bounded memory."""

import threading
from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import weft as tf
from weft.client import session as session_module


class TestLectureSamples:
    """The samples of a first TensorFlow lecture, as written."""

    def test_add(self):
        a = tf.add(3, 5)
        assert str(a) == 'Tensor("Add:0", shape=(), dtype=int32)'
        sess = tf.Session()
        assert sess.run(a) == 8
        sess.close()

    def test_useless_is_not_computed(self):
        ran = []
        x, y = 2, 3
        add_op = tf.add(x, y)
        mul_op = tf.multiply(x, y)
        useless = tf.py_func(lambda v: ran.append(1) or v, [tf.multiply(x, add_op)], tf.int32)
        pow_op = tf.pow(add_op, mul_op)
        with tf.Session() as sess:
            z = sess.run(pow_op)
            assert z == 15625 and not ran
            z, not_useless = sess.run([pow_op, useless])
            assert (z, not_useless) == (15625, 10) and ran == [1]

    def test_placeholders(self):
        a = tf.placeholder(tf.float32)
        b = tf.placeholder(tf.float32)
        adder_node = a + b
        with tf.Session() as sess:
            assert sess.run(adder_node, {a: 3, b: 4.5}) == 7.5
            got = sess.run(adder_node, {a: [1, 3], b: [2, 4]})
            assert str(got) == "[3. 7.]"

    def test_get_variable(self):
        v = tf.get_variable("v", shape=(), initializer=tf.zeros_initializer())
        w = v + 1
        assignment = v.assign_add(1)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            assert sess.run(w) == 1.0
            sess.run(assignment)
            assert sess.run(w) == 2.0


class TestFetches:
    def test_structures_come_back_as_they_were(self, sess):
        a, b = tf.constant(1), tf.constant([2.0, 3.0])
        pair = namedtuple("pair", "x y")
        got = sess.run({"p": pair(a, [b, a]), "t": (a,), "o": a.op, "n": "Const:0"})
        assert isinstance(got["p"], pair) and got["p"].x == 1 and got["t"] == (1,)
        np.testing.assert_array_equal(got["p"].y[0], [2, 3])
        assert got["o"] is None and got["n"] == 1
        ordered = sess.run(OrderedDict([("z", a), ("y", b)]))
        assert list(ordered) == ["z", "y"] and isinstance(ordered, OrderedDict)

    def test_scalars_are_numpy_scalars_and_arrays_are_the_callers_own(self, sess):
        c = tf.constant([1.0, 2.0])
        first = sess.run(c)
        first[0] = 9
        np.testing.assert_array_equal(sess.run(c), [1, 2])
        assert type(sess.run(tf.constant(1.5))) is np.float32
        assert sess.run(tf.constant("x")) == b"x"

    def test_fetching_a_fed_variable_value_does_not_share_memory(self, sess):
        v = tf.Variable([1.0, 2.0])
        sess.run(v.initializer)
        value = sess.run(v)
        value += 10
        np.testing.assert_array_equal(sess.run(v), [1, 2])

    def test_sparse(self, sess):
        s = tf.SparseTensor([[0, 1], [1, 0]], [5.0, 6.0], [2, 3])
        got = sess.run(s)
        assert isinstance(got, tf.SparseTensorValue)
        np.testing.assert_array_equal(got.indices, [[0, 1], [1, 0]])

    def test_wrong_fetches(self, sess):
        a = tf.constant(1)
        with pytest.raises(TypeError, match="has invalid type"):
            sess.run(None)
        with pytest.raises(TypeError, match="has invalid type"):
            sess.run(3.5)
        with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
            sess.run("nothing:0")
        with tf.Graph().as_default():
            other = tf.constant(2)
        with pytest.raises(ValueError, match="is not an element of this graph"):
            sess.run([a, other])


class TestFeeds:
    def test_any_tensor_can_be_fed(self, sess):
        a = tf.constant(2.0)
        b = a * 3.0
        assert sess.run(b + 1.0, {b: 10.0}) == 11.0
        assert sess.run(b, {"Const:0": 5.0}) == 15.0

    def test_of_two_values_the_last_counts(self, sess):
        a = tf.constant(2.0)
        assert sess.run(a * 3.0, {"Const:0": 5.0, a: 7.0}) == 21.0
        assert sess.run(a * 3.0, {a: 7.0, "Const:0": 5.0}) == 15.0

    def test_shapes_and_types_are_checked(self, sess):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor 'x:0'"):
            sess.run(x, {x: [1, 2, 3]})
        with pytest.raises(ValueError):
            sess.run(x, {x: [["a", "b"]]})
        with pytest.raises(TypeError, match=r"cannot be a tf\.Tensor object"):
            sess.run(x, {x: tf.constant([[1.0, 2.0]])})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
            sess.run(x, {"y:0": 1})

    def test_a_missing_feed_names_the_placeholder_and_the_line(self, sess):
        x = tf.placeholder(tf.float32, [None, 2], name="inputs")
        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            sess.run(x * 2.0)
        text = str(info.value)
        assert "You must feed a value for placeholder tensor 'inputs'" in text
        assert "dtype float and shape [?,2]" in text and "test_session.py" in text

    def test_large_integers_do_not_wrap(self, sess):
        x = tf.placeholder(tf.int32)
        with pytest.raises(TypeError, match="not compatible with Tensor type"):
            sess.run(x, {x: 2**40})


class TestLife:
    def test_closed(self):
        a = tf.constant(1)
        sess = tf.Session()
        sess.close()
        sess.close()
        with pytest.raises(RuntimeError, match="closed Session"):
            sess.run(a)

    def test_state_belongs_to_a_session(self):
        v = tf.Variable(1.0)
        with tf.Session() as one:
            one.run(v.initializer)
            assert one.run(v) == 1.0
        with tf.Session() as two:
            with pytest.raises(tf.errors.FailedPreconditionError, match="value Var") as info:
                two.run(v)
            assert info.value.op is v.op and "test_session.py" in str(info.value)

    def test_default_session(self):
        a = tf.constant(3)
        with pytest.raises(ValueError, match="No default session"):
            a.eval()
        with tf.Session():
            assert a.eval() == 3
        sess = tf.InteractiveSession()
        assert a.eval() == 3
        sess.close()
        assert tf.get_default_session() is None

    def test_reset_clears_containers(self):
        v = tf.Variable(1.0)
        sess = tf.Session()
        sess.run(v.initializer)
        tf.Session.reset("")
        with pytest.raises(RuntimeError):
            sess.run(v)

    def test_open_sessions_are_known(self):
        with tf.Session() as sess:
            assert sess in session_module.open_sessions()
        assert sess not in session_module.open_sessions()


class TestPartialRun:
    def test_values_are_kept_between_calls(self, sess):
        a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
        r1 = a + b
        r2 = r1 * c
        handle = sess.partial_run_setup([r1, r2], [a, b, c])
        assert sess.partial_run(handle, r1, {a: 1, b: 2}) == 3
        assert sess.partial_run(handle, r2, {c: 17}) == 51

    def test_each_node_runs_once(self, sess):
        ran = []
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        counted = tf.py_func(lambda v: ran.append(1) or v, [a], tf.float32)
        r2 = counted + b
        handle = sess.partial_run_setup([counted, r2], [a, b])
        sess.partial_run(handle, counted, {a: 1})
        assert sess.partial_run(handle, r2, {b: 2}) == 3 and ran == [1]

    def test_mistakes(self, sess):
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        r = a + b
        handle = sess.partial_run_setup([r], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="has not been fed"):
            sess.partial_run(handle, r, {a: 1})
        with pytest.raises(tf.errors.InvalidArgumentError, match="setup"):
            sess.partial_run("nothing", r)


class TestMakeCallable:
    def test_positional_feeds(self, sess):
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        call = sess.make_callable(x - y, [x, y])
        assert call(5, 3) == 2

    def test_feeds_that_are_too_few_or_too_many(self, sess):
        x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
        call = sess.make_callable(x - y, [x, y])
        assert call(5, 3, 8) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="placeholder tensor 'y'"):
            call(1)
        assert call(5, 3) == 2

    def test_options_with_feeds(self, sess):
        x = tf.placeholder(tf.float32)
        metadata, options = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        call = sess.make_callable(x + 1, [x])
        assert call(2, options=options, run_metadata=metadata) == 3
        assert metadata.step_stats.dev_stats
        with pytest.raises(TypeError):
            call(2, more=3)


class TestMetadata:
    def test_traced_steps_report_nodes_and_graphs(self, sess):
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.multiply(x, 2.0, name="y")
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        sess.run(y, {x: [1, 2]}, options=options, run_metadata=metadata)
        names = {n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats}
        assert "y" in names
        assert {n.name for n in metadata.partition_graphs[0].node} >= {"y"}

    def test_optimizations_can_be_switched_off(self):
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
        y = tf.constant(2.0) * tf.constant(3.0)
        metadata = tf.RunMetadata()
        with tf.Session(config=config) as sess:
            options = tf.RunOptions(output_partition_graphs=True)
            assert sess.run(y, options=options, run_metadata=metadata) == 6
        assert "Mul" in {n.op for n in metadata.partition_graphs[0].node}


class TestThreads:
    def test_no_update_is_lost_and_no_read_is_torn(self):
        """32 threads add to one variable in a compiled step while others read it."""
        v = tf.Variable(np.zeros([64, 64], np.float32))
        add = v.assign_add(np.ones([64, 64], np.float32)).op
        value = tf.identity(v)
        torn = []
        with tf.Session() as sess:
            sess.run(v.initializer)

            def write():
                for _ in range(25):
                    sess.run(add)

            def read():
                for _ in range(50):
                    got = sess.run(value)
                    if got.min() != got.max():
                        torn.append(got)

            threads = [threading.Thread(target=write) for _ in range(32)]
            threads += [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not torn
            assert (sess.run(v) == 32 * 25).all()

    def test_small_and_large_steps_mix(self):
        small, large = tf.Variable(0.0), tf.Variable(np.zeros(100_000, np.float32))
        step = tf.group(small.assign_add(1.0), large.assign_add(np.ones(100_000, np.float32)))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            threads = [
                threading.Thread(target=lambda: [sess.run(step) for _ in range(20)])
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sess.run(small) == 160 and (sess.run(large) == 160).all()


class TestManyShapes:
    def test_programs_are_bounded(self):
        """Many runs with 50 different shapes: a bounded table, no recompiling for ever."""
        x = tf.placeholder(tf.float32, [None, 64])
        y = tf.reduce_sum(tf.tanh(tf.matmul(x, np.ones([64, 64], np.float32))), axis=1)
        with tf.Session() as sess:
            for i in range(1000):
                n = 1 + i % 50
                assert sess.run(y, {x: np.zeros([n, 64], np.float32)}).shape == (n,)
            (plan,) = sess._runner._plans.values()
            programs = [
                e for u in plan.prepared.units for e in u.entries.values() if e.program is not None
            ]
            assert len(programs) <= 50
