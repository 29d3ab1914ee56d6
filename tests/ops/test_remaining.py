"""Operations that wait for each other, or whose result is no array: what samples cannot show."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import errors

ops = tf.raw_ops
TWO_CPUS = tf.ConfigProto(device_count={"CPU": 2})


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """The results of calls, each on a thread of its own."""
    found: list[Any] = [None] * len(calls)

    def run(i: int) -> None:
        found[i] = calls[i]()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


# ---- collectives ---------------------------------------------------------------------------------


def _member(op: str, device: int, *inputs: Any, key: int, **attrs: Any) -> Any:
    with tf.device(f"/cpu:{device}"):
        given = {"input": inputs[0]} if inputs else {}
        return getattr(ops, op)(**given, group_key=1, instance_key=key, group_size=2, **attrs)


@pytest.mark.parametrize(
    ("merge", "final", "wanted"),
    [("Add", "Div", [-1, 2]), ("Max", "Id", [1, 3]), ("Mul", "Id", [-4, 6])],
)
def test_members_of_a_group_reduce(merge: str, final: str, wanted: list[int]) -> None:
    attrs = dict(merge_op=merge, final_op=final, subdiv_offsets=[0])
    members = [
        _member("CollectiveReduce", i, x, key=7, **attrs) for i, x in enumerate(([1, 2], [-4, 3]))
    ]
    with tf.Session(config=TWO_CPUS) as session:
        for _ in range(2):
            for found in session.run(members):
                assert found.tolist() == wanted


def test_members_gather_in_the_order_of_their_devices() -> None:
    members = [_member("CollectiveGather", i, [[1.0 - i]], key=8, shape=[2, 1]) for i in (1, 0)]
    assert members[0].shape.as_list() == [2, 1]
    with tf.Session(config=TWO_CPUS) as session:
        for found in session.run(members):
            assert found.tolist() == [[1.0], [0.0]]


def test_one_member_sends_to_the_others() -> None:
    sent = _member("CollectiveBcastSend", 0, [1, 2], key=9, shape=[2])
    got = _member("CollectiveBcastRecv", 1, key=9, shape=[2], T=tf.int32)
    with tf.Session(config=TWO_CPUS) as session:
        assert [x.tolist() for x in session.run([sent, got])] == [[1, 2], [1, 2]]


def test_members_that_do_not_fit_all_fail() -> None:
    members = [
        _member("CollectiveReduce", i, x, key=10, merge_op="Add", final_op="Id", subdiv_offsets=[0])
        for i, x in enumerate(([1.0], [1.0, 2.0]))
    ]
    with tf.Session(config=TWO_CPUS) as session:
        with pytest.raises(errors.InvalidArgumentError, match="differ"):
            session.run(members)


def test_a_group_of_one_has_what_it_gives() -> None:
    alone = ops.CollectiveReduce(
        input=[2.0], group_size=1, group_key=1, instance_key=11, merge_op="Add", final_op="Div",
        subdiv_offsets=[0],
    )  # fmt: skip
    with tf.Session() as session:
        assert session.run(alone).tolist() == [2.0]


# ---- batches of concurrent steps -----------------------------------------------------------------


def test_steps_share_a_batch_and_its_gradient() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    (batched,), index, key = ops.Batch(
        in_tensors=[x], num_batch_threads=1, max_batch_size=3, batch_timeout_micros=60_000_000,
        grad_timeout_micros=60_000_000,
    )  # fmt: skip
    y = ops.Unbatch(
        batched_tensor=batched * batched, batch_index=index, id=key, timeout_micros=60_000_000
    )
    (grad,) = tf.gradients(y, x)
    assert batched.shape.as_list() == [None, 2]
    with tf.Session() as session:
        rows = [np.float32([[1, 2]]), np.float32([[3, 4], [5, 6]])]
        calls = [lambda row=row: session.run([y, grad, batched], {x: row}) for row in rows]
        found = at_once(*calls)
    for row, (value, slope, _) in zip(rows, found, strict=True):
        assert value.tolist() == (row * row).tolist()
        assert slope.tolist() == (2 * row).tolist()
    assert sorted(len(seen) for _, _, seen in found) == [0, 3]


def test_a_batch_that_is_not_full_runs_when_its_time_is_up() -> None:
    (batched,), index, _ = ops.Batch(
        in_tensors=[[5, 6]], num_batch_threads=1, max_batch_size=8, batch_timeout_micros=1000,
        grad_timeout_micros=0, allowed_batch_sizes=[4, 8],
    )  # fmt: skip
    with tf.Session() as session:
        values, rows = session.run([batched, index])
    assert values.tolist() == [5, 6, 5, 5]  # filled up with the first row
    assert rows[:, 1:].tolist() == [[0, 2]]


def test_results_that_never_come() -> None:
    missing = ops.Unbatch(
        batched_tensor=[1.0], batch_index=[[17, 0, 1]], id=np.int64(18), timeout_micros=10_000
    )
    with tf.Session() as session:
        with pytest.raises(errors.DeadlineExceededError, match="within timeout window"):
            session.run(missing)


def test_a_function_of_batches() -> None:
    sizes: list[int] = []
    bias = tf.constant(10.0)

    @tf.nondifferentiable_batch_function(1, 2, 60_000_000)
    def shifted(x: Any) -> Any:
        size = tf.py_func(lambda n: sizes.append(int(n)) or n, [tf.shape(x)[0]], tf.int32)
        with tf.control_dependencies([size]):
            return x + bias

    x = tf.placeholder(tf.float32, [1])
    (y,) = shifted(x)
    with tf.Session() as session:
        found = at_once(*[lambda i=i: session.run(y, {x: [i]}) for i in (1.0, 2.0)])
    assert [v.tolist() for v in found] == [[11.0], [12.0]]
    assert sizes == [2]


def test_batches_say_what_is_wrong() -> None:
    def batch(tensors: list[Any], **more: Any) -> Any:
        return ops.Batch(
            in_tensors=tensors, num_batch_threads=1, max_batch_size=2, batch_timeout_micros=0,
            grad_timeout_micros=0, **more,
        )[2]  # fmt: skip

    wrong = {
        "at least one dimension": batch([tf.placeholder_with_default(1.0, None)]),
        "equal 0th-dimension size": batch([[1.0], [1.0, 2.0]]),
        "larger than maximum batch size": batch([[1.0, 2.0, 3.0]]),
        "monotonically increasing": batch([[1.0]], allowed_batch_sizes=[2, 1]),
        "must equal max_batch_size": batch([[1.0]], allowed_batch_sizes=[1]),
    }
    with tf.Session() as session:
        for message, node in wrong.items():
            with pytest.raises(errors.InvalidArgumentError, match=message):
                session.run(node)


# ---- nodes about the process ---------------------------------------------------------------------


@pytest.mark.parametrize(("silent", "code"), [(True, 0), (False, -6)])
def test_abort_ends_the_process(silent: bool, code: int) -> None:
    program = (
        "import weft as tf\n"
        f"node = tf.raw_ops.Abort(error_msg='enough', exit_without_error={silent})\n"
        "tf.Session().run(node)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert done.returncode == code
    assert b"enough" in done.stderr


def test_constants_on_the_host_and_in_files(tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    path.write_bytes(np.arange(8, dtype=np.float32).tobytes() + b"?")
    mapped = ops.ImmutableConst(dtype=tf.float32, shape=[2, 3], memory_region_name=str(path))
    missing = ops.ImmutableConst(dtype=tf.float32, shape=[9], memory_region_name=str(path))
    host = ops.HostConst(value=np.int32([3, 4]), dtype=tf.int32)
    assert (mapped.shape.as_list(), host.shape.as_list()) == ([2, 3], [2])
    with tf.Session() as session:
        values = session.run([mapped, host, ops.Fact()])
        with pytest.raises(errors.InternalError, match=r"length \(33\) when allocating 36"):
            session.run(missing)
    assert values[0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert values[1].tolist() == [3, 4]
    assert isinstance(values[2], bytes)


@pytest.mark.parametrize(
    ("dtype", "error", "words"),
    [
        (tf.float32, errors.InvalidArgumentError, "empty; Invalid argument"),
        (tf.string, errors.UnimplementedError, "DT_STRING is not currently supported"),
        (tf.variant, errors.InvalidArgumentError, "Resource and variant dtypes are invalid"),
    ],
)
def test_what_cannot_be_a_constant_in_a_file(
    dtype: Any, error: Any, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "empty"
    path.touch()
    constant = ops.ImmutableConst(dtype=dtype, shape=[1], memory_region_name=str(path))
    with tf.Session() as session, pytest.raises(error, match=words):
        session.run(constant)


def test_a_debugger_may_stand_behind_a_variable() -> None:
    variable = tf.Variable([1.0, 2.0], use_resource=False)
    watched = ops.DebugGradientRefIdentity(input=variable._ref())
    (grad,) = tf.gradients(watched * 3.0, [watched])
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run([watched, grad])[1].tolist() == [3.0, 3.0]


# ---- linear models -------------------------------------------------------------------------------


def test_weights_are_shrunk_in_place() -> None:
    variables = [tf.Variable(x, use_resource=False) for x in ([1.0, -0.2], [[-3.0]])]
    shrink = ops.SdcaShrinkL1(weights=[v._ref() for v in variables], l1=1.0, l2=2.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(shrink)
        found = session.run(variables)
    assert [v.tolist() for v in found] == [[0.5, 0.0], [[-2.5]]]


@pytest.mark.parametrize("adaptive", [False, True])
def test_passes_over_the_examples_find_the_weights(adaptive: bool) -> None:
    """Least squares with little regularization: y = 2 a - b."""
    x = np.float32([[1, 0], [0, 1], [1, 1], [2, -1]])
    y = x @ np.float32([2, -1])
    weights, state = np.zeros(2, np.float32), np.zeros((4, 4), np.float32)
    w, s = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [4, 4])
    step = ops.SdcaOptimizerV2(
        sparse_example_indices=[], sparse_feature_indices=[], sparse_feature_values=[],
        dense_features=[x], example_weights=np.ones(4, np.float32), example_labels=y,
        sparse_indices=[], sparse_weights=[], dense_weights=[w], example_state_data=s,
        loss_type="squared_loss", adaptive=adaptive, l1=0.0, l2=0.001, num_loss_partitions=1,
        num_inner_iterations=1,
    )  # fmt: skip
    with tf.Session() as session:
        for _ in range(60):
            state, _, (delta,) = session.run(step, {w: weights, s: state})
            weights = weights + delta
    np.testing.assert_allclose(weights, [2, -1], atol=0.02)


def trained(loss: str, labels: Any, scale: float, l2: float = 1.0, ids: Any = (0, 1)) -> Any:
    """State and weights of one pass over two examples of one feature each, of weight 1."""
    step = ops.SdcaOptimizer(
        sparse_example_indices=[np.int64(ids)], sparse_feature_indices=[np.int64([0, 1])],
        sparse_feature_values=[np.float32([scale, scale])], dense_features=[],
        example_weights=np.ones(2, np.float32), example_labels=np.float32(labels),
        sparse_indices=[np.int64([0, 1])], sparse_weights=[np.ones(2, np.float32)],
        dense_weights=[], example_state_data=np.zeros((2, 4), np.float32), loss_type=loss, l1=0.0,
        l2=l2, num_loss_partitions=1, num_inner_iterations=1,
    )  # fmt: skip
    with tf.Session() as session:
        state, (delta,), _ = session.run(step)
    return state, delta


def test_examples_of_large_and_of_missing_numbers() -> None:
    """Recorded from TensorFlow 2.21 with the same inputs."""
    state, delta = trained("poisson_loss", [1, 0], 1000)
    np.testing.assert_allclose(state[:, 0], [-0.001, -0.00100691], rtol=1e-3)
    assert np.isinf(state[:, 1]).all() and state[:, 2].tolist() == [-1, 0]
    np.testing.assert_allclose(delta, [-1, -1.00691], rtol=1e-4)
    state, delta = trained("poisson_loss", [np.nan, 1], 1000)
    assert np.isnan(state[0, :3]).all() and np.isnan(delta[0])
    assert np.isnan(trained("squared_loss", [np.nan, 1], 1)[0][0, :3]).all()
    assert np.isnan(trained("logistic_loss", [1, 0], 1, l2=0.0)[1]).all()


def test_each_feature_belongs_to_an_example() -> None:
    words = r"mismatched example_indices and feature_indices \[0\] vs \[0 1\]"
    with pytest.raises(errors.InvalidArgumentError, match=words):
        trained("squared_loss", [1, 0], 1, ids=[0])


def test_the_order_of_examples_follows_from_their_state() -> None:
    first = trained("logistic_loss", [1, 0], 0.5)
    again = trained("logistic_loss", [1, 0], 0.5)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
