"""tf.test.TestCase: unittest with sessions, and assertions about arrays, tensors and messages."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from absl.testing import absltest

from weft.client.session import Session
from weft.core import device_name, errors, nest
from weft.graph import stacks
from weft.graph.graph import Graph
from weft.graph.random_seed import DEFAULT_GRAPH_SEED, set_random_seed
from weft.graph.slices import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)
from weft.graph.tensor import Tensor
from weft.lib.platform.versions import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER
from weft.lib.testing import compare
from weft.lib.testing.program import get_temp_dir
from weft.ops.kit.eager import executing_eagerly


def _rounded(text: str) -> str:
    """A message as text, its numbers with seven digits."""
    return re.sub(
        r"(?<=: )-?\d+\.\d+(e[+-]?\d+)?$", lambda m: f"{float(m[0]):.7g}", text, flags=re.M
    )


class _EagerSession:
    """Stands for a session in tests that are run eagerly, too: values are there already."""

    def __init__(self, evaluate: Callable[[Any], Any]) -> None:
        self._evaluate = evaluate

    def run(self, fetches: Any, *args: Any, feed_dict: Any = None, **kwargs: Any) -> Any:
        for wrong, what in ((feed_dict, "feed_dict is"), (args or kwargs, "Optional args are")):
            if wrong:
                raise RuntimeError(
                    f"{what} not supported when eager execution is enabled "
                    "(in this case, sess.run(t) is shorthand for t.numpy()"
                )
        return self._evaluate(fetches)


class TestCase(absltest.TestCase):
    """A fresh default graph and fixed seeds for every test, and one session to share within it.

    Args:
        methodName: the method of the class that is the test.

    Example:
        >>> class SquareTest(tf.test.TestCase):
        ...     def test_square(self):
        ...         with self.session():
        ...             self.assertAllClose(tf.square([1.0, 2.0]).eval(), [1.0, 4.0])
        >>> SquareTest("test_square").run().wasSuccessful()
        True
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._temp_dir: str | None = None
        self._cached_session: Session | None = None
        self._cached_for: tuple[Any, Any, bool] | None = None

    def setUp(self) -> None:
        # unittest takes every method whose name starts with "test" for a test.
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        super().setUp()
        self._close_cached_session()
        random.seed(DEFAULT_GRAPH_SEED)
        np.random.seed(DEFAULT_GRAPH_SEED)
        # A test that failed inside `as_default` may have left its graph behind.
        stacks.graphs.reset()
        stacks.reset_default_graph()
        set_random_seed(DEFAULT_GRAPH_SEED)

    def tearDown(self) -> None:
        for thread in self._threads:
            thread.check_termination()
        self._close_cached_session()
        super().tearDown()

    def _close_cached_session(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
        self._cached_session = self._cached_for = None

    def get_temp_dir(self) -> str:
        """A folder of this test's own: the same one at every call."""
        if self._temp_dir is None:
            self._temp_dir = tempfile.mkdtemp(dir=get_temp_dir())
        return self._temp_dir

    # ---- sessions ----

    @contextlib.contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """A new session that is the default inside the block and closes after it.

        Operations made inside go to the CPU unless `use_gpu` or `force_gpu`.
        """
        if executing_eagerly():
            yield _EagerSession(self.evaluate)
            return
        with (
            Session(graph=graph, config=_config(config, force_gpu)) as made,
            _devices(made, use_gpu, force_gpu),
        ):
            yield made

    @contextlib.contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """As `session`, but one session serves the whole test and keeps its variables."""
        if executing_eagerly():
            yield _EagerSession(self.evaluate)
            return
        wanted = (graph, config, force_gpu)
        if self._cached_for is not None:
            for name, old, new in zip(
                ("graph", "config", "force_gpu value"), self._cached_for, wanted, strict=True
            ):
                if old is not new:
                    raise ValueError(
                        f"The {name} used to get the cached session is different than the one that"
                        " was used to create the session. Maybe create a new session with"
                        " self.session()"
                    )
        with self._shared(*wanted, use_gpu=use_gpu) as shared:
            yield shared

    @contextlib.contextmanager
    def test_session(
        self,
        graph: Graph | None = None,
        config: Any = None,
        use_gpu: bool = False,
        force_gpu: bool = False,
    ) -> Iterator[Any]:
        """Deprecated: `cached_session`, or `session` when a graph is given."""
        if graph is not None or executing_eagerly():
            scope = self.session(graph, config, use_gpu, force_gpu)
        else:
            scope = self._shared(None, config, force_gpu, use_gpu=use_gpu)
        with scope as opened:
            yield opened

    @contextlib.contextmanager
    def _shared(
        self, graph: Graph | None, config: Any, force_gpu: bool, *, use_gpu: bool
    ) -> Iterator[Any]:
        if self._cached_session is None:
            self._cached_session = Session(graph=graph, config=_config(config, force_gpu))
            self._cached_for = (graph, config, force_gpu)
        session = self._cached_session
        with session.graph.as_default(), session.as_default():
            with _devices(session, use_gpu, force_gpu):
                yield session

    def _GetNdArray(self, a: Any) -> np.ndarray:
        """A tensor's value, or what stands for one, as an array."""
        return np.asarray(self.evaluate(a) if isinstance(a, Tensor) else a)

    def evaluate(self, tensors: Any) -> Any:
        """The values of a structure of tensors, in the default session or the test's own."""
        if executing_eagerly():
            return nest.map_structure(_eager_value, tensors)
        session = stacks.get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as own:
            return own.run(tensors)

    def _value(self, structure: Any) -> Any:
        """`structure` with values in place of the tensors in it."""
        if _is_symbolic(structure):
            return self.evaluate(structure)
        if not isinstance(structure, (list, tuple, dict)):
            return structure
        leaves = nest.flatten(structure)
        if not any(map(_is_symbolic, leaves)):
            return structure
        return nest.map_structure(
            lambda leaf: self.evaluate(leaf) if _is_symbolic(leaf) else leaf, structure
        )

    # ---- arrays ----

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """`a` and `b` (arrays, tensors, lists of numbers) have equal shapes and elements."""
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(_nested(self._value(a)), _nested(self._value(b)), msg)
            return
        compare.all_equal(self._value(a), self._value(b), msg)

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """At least one element differs."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}".rstrip())

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Elements differ by no more than `atol + rtol * abs(b)`; structures may nest."""
        a, b = self._value(a), self._value(b)
        if _is_ragged(a) or _is_ragged(b):
            a, b = _nested(a), _nested(b)
        compare.structures_close(a, b, rtol, atol, msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """`assertAllClose(a, b, **kwargs)` fails."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """`assertAllClose` with the widest tolerance that the types of the arrays ask for."""
        a, b = compare.as_array(self._value(a)), compare.as_array(self._value(b))
        names = {a.dtype.name, b.dtype.name}
        for types, relative, absolute in (
            ({"float32", "complex64"}, float_rtol, float_atol),
            ({"float16"}, half_rtol, half_atol),
            ({"bfloat16"}, bfloat16_rtol, bfloat16_atol),
        ):
            if names & types:
                rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        self.assertGreater(np.min(self._value(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        self.assertGreaterEqual(np.min(self._value(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        self.assertLess(np.max(self._value(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        self.assertLessEqual(np.max(self._value(a)), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Every element lies between the bounds, which belong to the range unless open."""
        compare.all_in_range(
            self._value(target), lower_bound, upper_bound, open_lower_bound, open_upper_bound
        )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Every element is one of `expected_set`."""
        found = compare.as_array(self._value(target)).ravel()
        strange = np.setdiff1d(found, list(expected_set))
        if strange.size:
            raise AssertionError(
                f"{strange.size} unique element(s) are not in the set {expected_set}: {strange}"
            )

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        self.assertEqual(compare.as_array(self._value(target)).dtype, expected_dtype)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:
        """The static shape of `tf_tensor` is the shape of `np_array`."""
        checked: tuple[tuple[str, Any, Any, str], ...] = (
            ("np_array", np_array, (np.ndarray, np.generic), "Numpy ndarray or Numpy scalar"),
            ("tf_tensor", tf_tensor, Tensor, "Tensor"),
        )
        for name, value, kinds, wanted in checked:
            if not isinstance(value, kinds):
                raise TypeError(f"{name} must be a {wanted}")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    # ---- numbers ----

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """`f1` and `f2` differ by no more than `err`."""
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err,
            f"{f1!r} != {f2!r} +/- {err!r}{f' ({msg})' if msg else ''}",
        )

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Two sequences of numbers differ by no more than `err`, element by element."""
        one, other = ([float(each) for each in farray] for farray in (farray1, farray2))
        self.assertEqual(len(one), len(other), msg=msg)
        for pair in zip(one, other, strict=True):
            self.assertNear(*pair, err=err, msg=msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None
    ) -> None:
        """The norm of the difference of two arrays is below `err`."""
        distance = np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2))
        self.assertLess(distance, err, msg)

    # ---- messages, errors, names ----

    def assertProtoEquals(
        self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None
    ) -> None:
        """Two messages, or the text of one and a message, say the same."""
        from google.protobuf import text_format

        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Parse(
                expected, type(message)(), descriptor_pool=message.DESCRIPTOR.file.pool
            )
        elif type(expected) is not type(message):
            self.fail(
                f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}"
            )
        if expected != message:
            # Numbers that went through text have lost their last digits.
            texts = [_rounded(text_format.MessageToString(m)) for m in (expected, message)]
            self.assertMultiLineEqual(texts[0], texts[1], msg)

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int = GRAPH_DEF_VERSION,
        min_consumer: int = GRAPH_DEF_VERSION_MIN_CONSUMER,
        msg: str | None = None,
    ) -> None:
        """`assertProtoEquals` with this library's versions added to the expected text."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n"
        self.assertProtoEquals(versions + expected, actual, msg=msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}".rstrip())

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]
        self, exception_type: type[BaseException], expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises an error of this type that a regular expression or function accepts.

        Of an operation's error, the name of the operation is searched too.
        """
        accepts = expected_err_re_or_predicate
        if not callable(accepts):
            pattern = re.compile(accepts)
            accepts = lambda error: pattern.search(_error_text(error))  # noqa: E731
        try:
            yield
        except Exception as error:
            if not isinstance(error, exception_type) or not accepts(error):
                raise AssertionError(
                    f"Exception of type {type(error)}: {error}\nwanted {exception_type.__name__}"
                    f" matching {expected_err_re_or_predicate!r}"
                ) from error
            return
        self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """The block raises the error of an operation."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """Two device names mean the same, however they are spelled."""
        first, second = device_name.canonical_name(device1), device_name.canonical_name(device2)
        self.assertEqual(first, second, f"Devices {first} and {second} are not equal. {msg or ''}")

    # Names that later versions of unittest dropped.
    assertItemsEqual = absltest.TestCase.assertCountEqual
    assertRaisesRegexp = absltest.TestCase.assertRaisesRegex
    assertRegexpMatches = absltest.TestCase.assertRegex
    assertNotRegexpMatches = absltest.TestCase.assertNotRegex
    assertEquals = absltest.TestCase.assertEqual
    assertNotEquals = absltest.TestCase.assertNotEqual
    assertAlmostEquals = absltest.TestCase.assertAlmostEqual
    assertNotAlmostEquals = absltest.TestCase.assertNotAlmostEqual
    assert_ = absltest.TestCase.assertTrue

    # ---- threads and streams ----

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """A thread whose exception fails the test when it is joined, as it must be."""
        thread = CheckedThread(self, target, args or (), kwargs or {})
        self._threads.append(thread)
        return thread

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """Collects what anything in this process writes to the file behind `stream`."""
        number = stream.fileno()
        stream.flush()
        kept = os.dup(number)
        path = os.path.join(tempfile.mkdtemp(dir=self.get_temp_dir()), "captured")
        try:
            with open(path, "wb") as file:
                os.dup2(file.fileno(), number)
            yield CapturedWrites(path)
        finally:
            stream.flush()
            os.dup2(kept, number)
            os.close(kept)
            shutil.rmtree(os.path.dirname(path))


class CapturedWrites:
    """The text written to a stream inside a `captureWritesToStream` block."""

    def __init__(self, path: str) -> None:
        self._path = path

    def contents(self) -> str:
        with open(self._path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()


class CheckedThread:
    """A thread of one test: what it raises is raised again by `join`."""

    def __init__(
        self, case: TestCase, target: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> None:
        self._case, self._target, self._args, self._kwargs = case, target, args, kwargs
        self._thread = threading.Thread(target=self._run)
        self._error: BaseException | None = None
        self._joined = False

    def _run(self) -> None:
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as error:
            self._error = error

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._joined = True
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def check_termination(self) -> None:
        if self._joined:
            if self.is_alive():
                self._case.fail("Thread was not joined with main thread, and is still running.")
        else:
            self._case.fail("A checked thread was not joined.")


def _config(config: Any, force_gpu: bool) -> Any:
    """Anything may run anywhere, unless the test insists on a GPU."""
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    made = ConfigProto()
    if config is None:
        made.allow_soft_placement = True
    else:
        made.CopyFrom(config)
    if force_gpu:
        made.allow_soft_placement = False
    return made


def _devices(session: Session, use_gpu: bool, force_gpu: bool) -> Any:
    if force_gpu:
        from weft.lib.testing.devices import gpu_device_name

        return session.graph.device(gpu_device_name() or "/device:GPU:0")
    return contextlib.nullcontext() if use_gpu else session.graph.device("/device:CPU:0")


def _eager_value(value: Any) -> Any:
    if callable(value):
        return nest.map_structure(_eager_value, value())
    if isinstance(value, SparseTensor):
        sparse = value.indices, value.values, value.dense_shape
        return SparseTensorValue(*map(_eager_value, sparse))
    if isinstance(value, IndexedSlices):
        slices = value.values, value.indices, value.dense_shape
        return IndexedSlicesValue(*map(_eager_value, slices))
    return value.numpy() if hasattr(value, "numpy") else value


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Tensor) or (
        hasattr(value, "_as_graph_element") or hasattr(value, "_composite_components")
    )


def _is_ragged(value: Any) -> bool:
    return hasattr(value, "ragged_rank")


def _nested(value: Any) -> Any:
    if hasattr(value, "to_list"):
        return value.to_list()
    return compare.as_array(value).tolist()


def _error_text(error: BaseException) -> str:
    if not isinstance(error, errors.OpError):
        return str(error)
    return error.message if error.op is None else f"{error.message}\nCaused by: {error.op.name}"
