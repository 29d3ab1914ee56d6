"""tf.test: the assertions of TestCase accept what is right, and say what is wrong."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import unittest
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import weft as tf

ROOT = Path(__file__).parents[2]
Pair = namedtuple("Pair", "x y")


def result_of(body) -> unittest.TestResult:
    """Runs `body(case)` as a test of its own."""
    cls = type("Case", (tf.test.TestCase,), {"runTest": body})
    result = unittest.TestResult()
    cls().run(result)
    return result


def passes(body) -> None:
    result = result_of(body)
    assert result.wasSuccessful(), (result.errors + result.failures)[0][1]


def fails(body, match: str) -> None:
    """The test fails, or raises, with a text that matches."""
    result = result_of(body)
    problems = result.errors + result.failures
    assert len(problems) == 1
    assert re.search(match, problems[0][1]), problems[0][1]


def test_all_equal() -> None:
    passes(lambda t: t.assertAllEqual([1, 2], np.array([1, 2])))
    passes(lambda t: t.assertAllEqual([np.nan, 1.0], [np.nan, 1.0]))
    passes(lambda t: t.assertAllEqual(tf.constant([1, 2]) + 1, [2, 3]))
    passes(lambda t: t.assertAllEqual([b"a"], np.array([b"a"], object)))
    passes(lambda t: t.assertNotAllEqual([1], [2]))
    fails(lambda t: t.assertAllEqual([1, 2], [1, 3]), r"not equal where = \(array\(\[1\]\),\)")
    fails(lambda t: t.assertAllEqual([1], [1, 2]), r"Shape mismatch: expected \(1,\), got \(2,\)")
    fails(lambda t: t.assertNotAllEqual([1], [1]), "equal at all elements")


def test_all_close() -> None:
    passes(lambda t: t.assertAllClose([1.0, np.inf, np.nan], [1.0 + 1e-7, np.inf, np.nan]))
    passes(lambda t: t.assertAllClose({"a": [1.0], "b": Pair(1, (2, 3))},
                                      {"a": tf.constant([1.0]), "b": Pair(1, (2, 3))}))  # fmt: skip
    passes(lambda t: t.assertAllClose([[1.0], [2.0, 3.0]], [np.array([1.0]), (2.0, 3.0)]))
    passes(lambda t: t.assertNotAllClose(1.0, 1.1))
    fails(lambda t: t.assertAllClose(1.0, 1.1), "not close lhs = 1.0")
    fails(lambda t: t.assertAllClose({"a": 1.0}, {"b": 1.0}), "mismatched keys")
    fails(lambda t: t.assertAllClose({"a": [1.0]}, {"a": [2.0]}), r"a\[a\] is different")
    fails(lambda t: t.assertAllClose({"a": 1.0}, [1.0]), "Can't compare dict to non-dict")
    fails(lambda t: t.assertAllClose([[1], [2, 3]], [[1]]), "Mismatched length: a has 2 items")


def test_close_according_to_type() -> None:
    half = np.array([1.0], np.float16)
    passes(lambda t: t.assertAllCloseAccordingToType(half, [1.0009]))
    fails(lambda t: t.assertAllClose(half, [1.0009]), "not close")
    bfloat16 = np.array([1.0], tf.bfloat16.as_numpy_dtype)
    passes(lambda t: t.assertAllCloseAccordingToType(bfloat16, bfloat16 * 1.004))


def test_near() -> None:
    passes(lambda t: t.assertNear(1.0, 1.05, 0.1))
    passes(lambda t: t.assertNear(np.inf, np.inf, 0.1))
    passes(lambda t: t.assertArrayNear([1, 2], [1.05, 2.05], 0.1))
    passes(lambda t: t.assertNDArrayNear(np.ones(2), np.ones(2) + 1e-3, 0.1))
    fails(lambda t: t.assertNear(1.0, 1.2, 0.1, "why"), r"1\.0 != 1\.2 \+/- 0\.1 \(why\)")


def test_bounds() -> None:
    passes(lambda t: t.assertAllGreater([2, 3], 1))
    passes(lambda t: t.assertAllLess([2, 3], 4))
    passes(lambda t: t.assertAllGreaterEqual([2, 3], 2))
    passes(lambda t: t.assertAllLessEqual([2, 3], 3))
    passes(lambda t: t.assertAllInRange([1.0, 2.0], 1.0, 2.0))
    passes(lambda t: t.assertAllInSet(tf.constant([1, 1, 2]), {1, 2, 3}))
    fails(lambda t: t.assertAllInRange([1, 2], 1, 2, True), r"outside the range \(1, 2\]")
    fails(lambda t: t.assertAllInRange([[np.nan]], 0, 1), "1 of the 1 .* NaN")
    fails(lambda t: t.assertAllInRange(["a"], 0, 1), "ordered numeric type")
    fails(lambda t: t.assertAllInSet([4], {1}), "not in the set")


def test_types_shapes_devices() -> None:
    passes(lambda t: t.assertDTypeEqual(np.float32(1), np.float32))
    passes(lambda t: t.assertShapeEqual(np.zeros((2, 3)), tf.zeros([2, 3])))
    passes(lambda t: t.assertDeviceEqual("/cpu:0", "/device:CPU:0"))
    fails(lambda t: t.assertShapeEqual(np.zeros(2), tf.zeros([3])), "not equal")
    fails(lambda t: t.assertDeviceEqual("/cpu:0", "/gpu:0"), "are not equal")


def test_messages() -> None:
    shape = tf.TensorShape([2, None]).as_proto()
    passes(lambda t: t.assertProtoEquals("dim { size: 2 } dim { size: -1 }", shape))
    passes(lambda t: t.assertProtoEquals(shape, shape))
    passes(lambda t: t.assertProtoEqualsVersion(
        "node { name: 'a' op: 'NoOp' }", _graph_def("a")))  # fmt: skip
    fails(lambda t: t.assertProtoEquals("dim { size: 3 }", shape), "size: 3")
    value = tf.Summary(value=[tf.Summary.Value(simple_value=np.float32(1) / np.float32(3))])
    passes(lambda t: t.assertProtoEquals("value { simple_value: 0.33333334 }", value))
    passes(lambda t: t.assertProtoEquals("value { simple_value: 0.33333332 }", value))
    fails(lambda t: t.assertProtoEquals("value { simple_value: 0.33334 }", value), "0.33334")
    fails(lambda t: t.assertProtoEquals(tf.GraphDef(), shape), "Can't compare protos")


def _graph_def(name: str):
    with tf.Graph().as_default() as graph:
        tf.no_op(name=name)
    return graph.as_graph_def()


def test_errors() -> None:
    def of_an_operation(t):
        with t.session(), t.assertRaisesOpError("Placeholder"):
            tf.placeholder(tf.float32, []).eval()

    def by_predicate(t):
        with t.assertRaisesWithPredicateMatch(ValueError, lambda e: "a" in str(e)):
            raise ValueError("abc")

    def wrong_type(t):
        with t.assertRaisesWithPredicateMatch(ValueError, "a"):
            raise KeyError("a")

    def nothing(t):
        with t.assertRaisesOpError(""):
            pass

    passes(of_an_operation)
    passes(by_predicate)
    fails(wrong_type, "Exception of type <class 'KeyError'>")
    fails(nothing, "OpError not raised")


def test_sessions() -> None:
    def new_sessions(t):
        with t.session() as session:
            variable = tf.Variable(1.0)
            session.run(variable.initializer)
            t.assertIs(tf.get_default_session(), session)
            assert variable.device == "/device:CPU:0"
        with t.session() as other:
            assert other is not session

    def one_shared(t):
        with t.cached_session() as session:
            variable = tf.Variable(1.0)
            session.run(variable.initializer)
        with t.cached_session() as again, t.test_session() as third:
            assert session is again is third
            t.assertEqual(t.evaluate({"a": [variable]}), {"a": [1.0]})
        with pytest.raises(ValueError, match="The graph used to get the cached session"):
            with t.cached_session(graph=tf.Graph()):
                pass

    def without_one(t):
        t.assertEqual(t.evaluate(tf.constant(2)), 2)

    for body in (new_sessions, one_shared, without_one):
        passes(body)


def test_every_test_starts_alike() -> None:
    seen = []

    def draw(t):
        assert not tf.get_default_graph().get_operations()
        seen.append((np.random.rand(), t.evaluate(tf.random_uniform([]))))

    passes(draw)
    passes(draw)
    assert seen[0] == seen[1]


def test_test_session_is_not_a_test() -> None:
    result = unittest.TestResult()
    tf.test.TestCase("test_session").run(result)
    assert len(result.skipped) == 1


def test_checked_threads() -> None:
    def good(t):
        thread = t.checkedThread(lambda x: x + 1, args=(1,))
        thread.start()
        thread.join()

    def bad(t):
        thread = t.checkedThread(lambda: 1 / 0)
        thread.start()
        thread.join()

    def unjoined(t):
        t.checkedThread(lambda: None)

    passes(good)
    fails(bad, "Error in checkedThread: division by zero")
    fails(unjoined, "not joined")


def test_captured_writes(tmp_path) -> None:
    def body(t):
        with open(tmp_path / "stream", "w") as stream:
            with t.captureWritesToStream(stream) as captured:
                stream.write("inside")
                stream.flush()
                t.assertEqual(captured.contents(), "inside")
            stream.write("after")

    passes(body)
    assert (tmp_path / "stream").read_text() == "after"


def test_temp_dirs() -> None:
    def body(t):
        assert Path(t.get_temp_dir()).parent == Path(tf.test.get_temp_dir())
        assert t.get_temp_dir() == t.get_temp_dir()

    passes(body)


def test_equal_graph_defs() -> None:
    a, b = _graph_def("a"), _graph_def("b")
    tf.test.assert_equal_graph_def(a, a)
    with pytest.raises(AssertionError, match="Did not find expected node 'b'"):
        tf.test.assert_equal_graph_def(a, b)
    changed = _graph_def("a")
    changed.node[0].device = "/cpu:0"
    with pytest.raises(AssertionError, match="has device '/cpu:0' that is not expected ''"):
        tf.test.assert_equal_graph_def(changed, a)
    with pytest.raises(TypeError, match=r"Expected tf\.GraphDef for expected"):
        tf.test.assert_equal_graph_def(a, "b")


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.complex128])
def test_compute_gradient(sess, dtype) -> None:
    x = tf.placeholder(dtype, [2, 2])
    y = tf.reduce_sum(x * x * tf.cast([[1.0, 2.0], [3.0, 4.0]], dtype), 0)
    value = np.array([[1.0, 2.0], [0.5, -1.0]], dtype.as_numpy_dtype)
    theory, numbers = tf.test.compute_gradient(x, [2, 2], y, [2], x_init_value=value)
    wide = 2 if dtype.is_complex else 1
    assert theory.shape == numbers.shape == (4 * wide, 2 * wide)
    np.testing.assert_allclose(theory, numbers, rtol=1e-2, atol=1e-2)
    assert tf.test.compute_gradient_error(x, [2, 2], y, [2], x_init_value=value) < 1e-2


def test_compute_gradient_of_lists_and_slices(sess) -> None:
    table, scale = tf.placeholder(tf.float64, [3, 2]), tf.placeholder(tf.float64, [])
    y = tf.gather(table, [0, 2, 2]) * scale
    values = [np.arange(6.0).reshape(3, 2), np.array(3.0)]
    pairs = tf.test.compute_gradient(
        [table, scale], [[3, 2], []], y, [3, 2], values,
        extra_feed_dict=dict(zip([table, scale], values, strict=True)),
    )  # fmt: skip
    for theory, numbers in pairs:
        np.testing.assert_allclose(theory, numbers, atol=1e-6)


def test_a_wrong_gradient_is_found(sess) -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.custom_gradient(lambda v: (v * v, lambda dy: dy))(x)
    error = tf.test.compute_gradient_error(x, [], y, [], x_init_value=np.float32(3.0))
    assert error == pytest.approx(5.0, abs=0.01)


def test_stubs() -> None:
    class Thing:
        @staticmethod
        def size():
            return 1

    thing, stubs = Thing(), tf.test.StubOutForTesting()
    stubs.SmartSet(thing, "size", lambda self: 2)
    assert Thing().size() == 2
    stubs.Set(thing, "size", 3)
    assert thing.size == 3
    stubs.CleanUp()
    assert Thing.size() == Thing().size() == 1


def test_benchmarks(sess, monkeypatch) -> None:
    class Adding(tf.test.Benchmark):
        def benchmarkAdd(self):
            x = tf.constant(1.0)
            return self.run_op_benchmark(sess, x + x, min_iters=3, extras={"note": "x"}, mbs=1)

    monkeypatch.setattr(sys, "stdout", io.StringIO())
    found = Adding().benchmarkAdd()
    printed = sys.stdout.getvalue()
    assert found["iters"] == 3
    assert found["wall_time"] > 0
    assert 'name: "Adding.benchmarkAdd"' in printed
    assert 'string_value: "x"' in printed
    assert tf.test.Benchmark.is_abstract()
    assert not Adding.is_abstract()


def test_main_runs_the_tests_of_a_program(tmp_path) -> None:
    program = tmp_path / "some_test.py"
    program.write_text(
        "import weft as tf\n"
        "class Some(tf.test.TestCase):\n"
        "    def testGood(self):\n        self.assertAllEqual(tf.constant([1]), [1])\n"
        "    def testBad(self):\n        self.assertAllEqual([1], [2])\n"
        "class Speed(tf.test.Benchmark):\n"
        "    def benchmarkIt(self):\n        self.report_benchmark(iters=1, wall_time=2.0)\n"
        "tf.test.main()\n"
    )
    env = {"PYTHONPATH": str(ROOT), "TEST_TMPDIR": str(tmp_path)}
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 1
    assert "FAILED (failures=1" in done.stderr
    command.append("--benchmarks=Speed")
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert "Speed.benchmarkIt" in done.stdout, done.stderr


def test_names() -> None:
    assert tf.test.mock.MagicMock
    assert "TestCase" in dir(tf.test)
    assert tf.test.gpu_device_name() == "" or tf.test.is_gpu_available()
    assert not hasattr(tf.test, "nothing")


def test_a_session_in_eager_mode_gives_values() -> None:
    class Both(tf.test.TestCase):
        @tf.contrib.eager.run_test_in_graph_and_eager_modes()
        def test_sum(self) -> None:
            for scope in (self.session, self.cached_session, self.test_session):
                with scope() as session:
                    x = tf.constant([1, 2])
                    session.run(tf.global_variables_initializer())
                    self.assertEqual(session.run([tf.reduce_sum(x)]), [3])

        @tf.contrib.eager.run_test_in_graph_and_eager_modes()
        def test_feeding(self) -> None:
            if tf.executing_eagerly():
                with self.session() as session, self.assertRaisesRegex(RuntimeError, "feed_dict"):
                    session.run([], feed_dict={"a": 1})

    outcome = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Both).run(outcome)
    assert outcome.wasSuccessful(), outcome.errors + outcome.failures
