"""Dataset operations that no public function makes, but graphs may have."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.lib.data.functions import StructuredFunction

ops = tf.raw_ops
experimental = tf.data.experimental
ONE_NUMBER: dict[str, Any] = dict(output_types=[tf.int64], output_shapes=[[]])


def variant(dataset: Any) -> Any:
    return experimental.to_variant(dataset)


def numbers(handle: Any, dims: Any = ()) -> Any:
    return experimental.from_variant(handle, tf.TensorSpec(dims, tf.int64))


def drained(session: Any, tensor: Any) -> list[Any]:
    found = []
    while True:
        try:
            found.append(session.run(tensor).tolist())
        except errors.OutOfRangeError:
            return found


def passes(dataset: Any, count: int = 1) -> list[list[Any]]:
    """What comes out of a dataset, each time that it starts over."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        for _ in range(count):
            session.run(iterator.initializer)
            found.append(drained(session, element))
    return found


@pytest.mark.parametrize("op", ["RebatchDataset", "ExperimentalRebatchDataset"])
@pytest.mark.parametrize(
    "count, size, replicas, parts",
    [
        (10, 4, 2, [[0, 1], [2, 3], [4, 5], [6, 7], [8], [9]]),
        (5, 4, 2, [[0, 1], [2, 3], [4], []]),
        (7, 5, 2, [[0, 1, 2], [3, 4], [5], [6]]),
        (4, 4, 3, [[0, 1], [2, 3], []]),
    ],
)
def test_batches_are_cut_for_replicas(
    op: str, count: int, size: int, replicas: int, parts: list[list[int]]
) -> None:
    handle = getattr(ops, op)(
        input_dataset=variant(tf.data.Dataset.range(count).batch(size)), num_replicas=replicas,
        output_types=[tf.int64], output_shapes=[[None]],
    )  # fmt: skip
    assert passes(numbers(handle, [None])) == [parts]


def test_a_shuffle_draws_seeds_from_its_generator() -> None:
    source = tf.data.Dataset.range(9)
    seeds, _ = ops.AnonymousRandomSeedGenerator(seed=7, seed2=2)
    shuffled = ops.ShuffleDatasetV2(
        input_dataset=variant(source), buffer_size=4, seed_generator=seeds, **ONE_NUMBER
    )
    known = ops.ShuffleDataset(
        input_dataset=variant(source), buffer_size=4, seed=7, seed2=2, **ONE_NUMBER
    )
    options = tf.data.Options()
    options.experimental_optimization.shuffle_and_repeat_fusion = False
    twice = (numbers(each).repeat(2).with_options(options) for each in (shuffled, known))
    (found,), (wanted,) = (passes(dataset) for dataset in twice)
    assert found == wanted
    assert found[:9] != found[9:]


def test_datasets_share_a_cache() -> None:
    calls: list[int] = []
    source = tf.data.Dataset.range(3).map(
        lambda x: tf.py_func(lambda v: calls.append(int(v)) or v, [x], tf.int64)
    )
    source = source.map(lambda x: tf.reshape(x, []))
    cache, _ = ops.AnonymousMemoryCache()
    handle = ops.CacheDatasetV2(
        input_dataset=variant(source), filename="", cache=cache, **ONE_NUMBER
    )
    twice = numbers(handle).repeat(2)
    assert passes(twice) == [[0, 1, 2, 0, 1, 2]]
    assert calls == [0, 1, 2]


def test_a_snapshot_is_read_once_it_is_there(tmp_path: Path) -> None:
    def snapshot(count: int) -> Any:
        source = tf.data.Dataset.range(count)
        return numbers(
            ops.SnapshotDataset(
                input_dataset=variant(source), path=str(tmp_path / "kept"), **ONE_NUMBER
            )
        )

    assert passes(snapshot(3)) == [[0, 1, 2]]
    assert passes(snapshot(5)) == [[0, 1, 2]]


def test_a_branch_is_a_function_of_the_dataset() -> None:
    source = tf.data.Dataset.range(4)

    def tripled(dataset: Any) -> Any:
        return variant(numbers(dataset).map(lambda x: x * 3))

    branch = StructuredFunction(tripled, "branch()", tf.TensorSpec([], tf.variant))
    handle = ops.ChooseFastestBranchDataset(
        input_dataset=variant(source), ratio_numerator=1, ratio_denominator=1,
        other_arguments=branch.captured_inputs, num_elements_per_branch=1,
        branches=[branch.reference], other_arguments_lengths=[len(branch.captured_inputs)],
        **ONE_NUMBER,
    )  # fmt: skip
    assert passes(numbers(handle)) == [[0, 3, 6, 9]]


def test_elements_go_to_devices_in_turn() -> None:
    made = ops.MultiDeviceIterator(
        devices=["/cpu:0", "/cpu:1"], shared_name="", container="", **ONE_NUMBER
    )
    start = ops.MultiDeviceIteratorInit(
        dataset=variant(tf.data.Dataset.range(5)), multi_device_iterator=made, max_buffer_size=2
    )
    name = ops.MultiDeviceIteratorToStringHandle(multi_device_iterator=made)
    again = ops.MultiDeviceIteratorFromStringHandle(string_handle=name)
    incarnation = tf.placeholder(tf.int64, [])
    shards = [
        ops.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=handle, shard_num=i, incarnation_id=incarnation, **ONE_NUMBER
        )[0]
        for i, handle in enumerate((made, again))
    ]
    with tf.Session() as session:
        for _ in range(2):
            given = {incarnation: session.run(start)}
            assert [int(session.run(shards[1], given)) for _ in range(2)] == [1, 3]
            assert [int(session.run(shards[0], given)) for _ in range(3)] == [0, 2, 4]
            with pytest.raises(errors.OutOfRangeError):
                session.run(shards[1], given)
        with pytest.raises(errors.InvalidArgumentError, match="Invalid incarnation id"):
            session.run(shards[0], {incarnation: 7})


def test_a_device_waits_when_too_much_is_kept_for_another() -> None:
    made = ops.MultiDeviceIterator(
        devices=["/cpu:0", "/cpu:1"], shared_name="", container="", **ONE_NUMBER
    )
    start = ops.MultiDeviceIteratorInit(
        dataset=variant(tf.data.Dataset.range(6)), multi_device_iterator=made, max_buffer_size=1
    )
    incarnation = tf.placeholder(tf.int64, [])
    first, second = (
        ops.MultiDeviceIteratorGetNextFromShard(
            multi_device_iterator=made, shard_num=i, incarnation_id=incarnation, **ONE_NUMBER
        )[0]
        for i in range(2)
    )
    with tf.Session() as session:
        given = {incarnation: session.run(start)}
        assert session.run(second, given) == 1  # 0 is kept, and 2 cannot be as well
        with pytest.raises(errors.DeadlineExceededError):
            session.run(second, given, tf.RunOptions(timeout_in_ms=50))
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(session.run, second, given)
            taken = [session.run(first, given) for _ in range(2)]
            assert (taken, waiting.result(timeout=60)) == ([0, 2], 3)
        assert session.run([first, second], given) == [4, 5]


def test_a_function_of_each_row() -> None:
    shift = tf.constant(10)
    specs = (tf.TensorSpec([2], tf.int32), tf.TensorSpec([], tf.string))
    function = StructuredFunction(
        lambda x, t: (tf.reduce_sum(x) + shift, tf.strings.join([t, t])), "rows()", specs
    )
    found = ops.MapDefun(
        arguments=[[[1, 2], [3, 4]], ["a", "b"]], captured_inputs=function.captured_inputs,
        output_types=[tf.int32, tf.string], output_shapes=[[], []], f=function.reference,
    )  # fmt: skip
    assert [x.shape.as_list() for x in found] == [[2], [2]]
    with tf.Session() as session:
        sums, texts = session.run(found)
    assert sums.tolist() == [13, 17]
    assert texts.tolist() == [b"aa", b"bb"]
    assert sums.dtype == np.int32
