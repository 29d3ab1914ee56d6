"""Contexts that trace the steps of sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tensorboard.compat.proto.tfprof_log_pb2 import ProfileProto

import weft as tf
from weft.client.session import BaseSession

Context = tf.contrib.tfprof.ProfileContext


def model() -> Any:
    weights = tf.get_variable("w", [3, 2])
    return tf.matmul(tf.ones([4, 3]), weights)


def options(path: Path) -> Any:
    builder = tf.profiler.ProfileOptionBuilder
    return builder(builder.time_and_memory()).with_file_output(str(path)).build()


def test_traced_reported_and_written(tmp_path: Path) -> None:
    y = model()
    report, folder = tmp_path / "report", tmp_path / "profiles"
    with Context(str(folder), trace_steps=[1, 2], dump_steps=[3]) as context:
        context.add_auto_profiling("op", options(report), [2])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(y)
            assert not report.exists()
            session.run(y)
            assert "MatMul" in report.read_text()
            session.run(y)
    assert set(context.get_profiles("op")) == {2}
    with pytest.raises(ValueError, match="No autoprofiler for command: scope, was run"):
        context.get_profiles("scope")
    assert [file.name for file in folder.iterdir()] == ["profile_3"]
    written = ProfileProto.FromString((folder / "profile_3").read_bytes())
    by_name = {node.name: node for node in written.nodes.values()}
    assert list(written.steps) == [1, 2] and written.has_trace
    product = by_name["MatMul"]
    assert product.float_ops == 48 and set(product.execs) == {1, 2}
    assert written.nodes[product.inputs[1]].name == "w/read"
    assert list(by_name["w"].shape) == [3, 2] and product.execs[1].run_count == 1
    files = [written.id_to_string[trace.file_id] for trace in product.trace.traces]
    assert any(file.endswith("test_context.py") for file in files)


def test_new_fetches_are_traced_after_warming_up(tmp_path: Path) -> None:
    y = model()
    with Context(str(tmp_path), debug=True), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(10):
            session.run(y)
            assert not list(tmp_path.iterdir())
        session.run(y)
        assert [file.name for file in tmp_path.iterdir()] == ["run_meta_11"]
        assert "step_stats" in (tmp_path / "run_meta_11").read_text()


def test_the_next_step(tmp_path: Path) -> None:
    y = model()
    metadata = tf.RunMetadata()
    asked = tf.RunOptions()
    with Context(str(tmp_path), trace_steps=[], dump_steps=[]) as context, tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(y, options=asked, run_metadata=metadata)
        assert not metadata.step_stats.dev_stats
        context.trace_next_step()
        context.dump_next_step()
        session.run(y, options=asked, run_metadata=metadata)
        assert metadata.step_stats.dev_stats and asked.trace_level == tf.RunOptions.NO_TRACE
        session.run(y)
        assert context.profiler.profile_operations(
            tf.profiler.ProfileOptionBuilder.time_and_memory()
        )
    assert [file.name for file in tmp_path.iterdir()] == ["profile_2"]


def test_sessions_are_left_as_they_were(tmp_path: Path) -> None:
    plain = BaseSession.run
    with Context(str(tmp_path)) as context:
        assert BaseSession.profile_context is context
        with pytest.raises(tf.errors.InternalError, match="Already in context"):
            Context(str(tmp_path)).__enter__()
    assert BaseSession.run is plain and BaseSession.profile_context is None
    with Context("", enabled=False) as context:
        context.trace_next_step()
        context.add_auto_profiling("op", {}, [1])
        assert context.profiler is None and BaseSession.run is plain


def test_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Must have a directory for profile"):
        Context("")
    with pytest.raises(ValueError, match="Only support tracing up to 100 steps"):
        Context(str(tmp_path), trace_steps=range(101))
    with Context(str(tmp_path), [], []) as context, tf.Session() as session:
        context.add_auto_profiling("nothing", {}, [0])
        with pytest.raises(ValueError, match="Unknown cmd: nothing"):
            session.run(tf.constant(1))
        context.trace_next_step()
        assert session.run(tf.constant(2)) == 2
