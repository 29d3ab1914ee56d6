"""Iterators leave in the graph what they leave in TensorFlow 1.15, and give the same elements."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.data.graph_lines import graph_lines, plain
from tests.data.iterator_programs import PROGRAMS

RECORDED = json.loads((Path(__file__).parent / "recorded" / "iterators.json").read_text())
# Whose functions hold operations that are named in another way.
OTHER_NAMES = {"draws_after_an_image", "map_with_legacy_function_first_kind"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_as_in_tensorflow(name: str) -> None:
    tf.set_random_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = plain(PROGRAMS[name](tf))
    assert close(values, RECORDED[name]["values"])
    if name not in OTHER_NAMES:
        assert graph_lines(tf.get_default_graph()) == RECORDED[name]["graph"]


def close(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(
            close(found[key], wanted[key]) for key in wanted
        )
    return (
        found == pytest.approx(wanted, rel=1e-4, abs=1e-5)
        if isinstance(wanted, float)
        else found == wanted
    )


def test_static_optimizations_need_resource_variables() -> None:
    variable = tf.get_variable("v", [], tf.int64)
    dataset = tf.data.Dataset.range(3).map(lambda x: x + variable)
    with pytest.warns(
        UserWarning,
        match="optimizations will be disabled: map_and_batch_fusion, noop_elimination, shuffle_and",
    ):
        dataset.make_initializable_iterator()


def test_options_of_the_wrong_type() -> None:
    options = tf.data.Options()
    with pytest.raises(
        TypeError, match=r"Incompatible options type: <class 'int'> vs <class '.*\.Options'>"
    ):
        options.merge(3)
    with pytest.raises(
        TypeError, match="Property \"autotune_algorithm\" must be of type <class 'int'>, got: None"
    ):
        options.experimental_optimization.autotune_algorithm = None
    assert options.experimental_stats.latency_all_edges is None
    options.experimental_optimization.prefetch_to_device = "/gpu:0"
    with pytest.raises(TypeError, match="must be of type <class 'str'>, got: 0"):
        options.experimental_optimization.prefetch_to_device = 0


def test_rewrites_that_there_are_not() -> None:
    options = tf.data.Options()
    options.experimental_optimization.filter_with_random_uniform_fusion = True
    iterator = tf.data.Dataset.range(3).with_options(options).make_initializable_iterator()
    with (
        tf.Session() as session,
        pytest.raises(
            tf.errors.InternalError, match="optimizer that doesn't exist: filter_with_random"
        ),
    ):
        session.run(iterator.initializer)


def test_a_fused_repetition_has_a_count() -> None:
    iterator = tf.data.Dataset.range(3).shuffle(2).repeat(0).make_initializable_iterator()
    with (
        tf.Session() as session,
        pytest.raises(
            tf.errors.InvalidArgumentError, match="count must be greater than zero or equal to -1"
        ),
    ):
        session.run(iterator.initializer)
