"""tensorflow.python.debug: dumps of a step's tensors, and the prompt after a run."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.lib.train import debug
from weft.lib.train.debug.cli import Prompt


def model() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.get_variable("w", initializer=tf.constant([2.0, 3.0]), use_resource=True)
    y = tf.multiply(x, w, name="y")
    return x, tf.log(y, name="z")


def test_dumping_session(tmp_path: Path) -> None:
    x, z = model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wrapped = debug.DumpingDebugWrapperSession(session, str(tmp_path))
        value = wrapped.run(z, {x: [1.0, 0.0]})
        np.testing.assert_allclose(value, [np.log(2.0), -np.inf])
    (folder,) = os.listdir(tmp_path)
    found = debug.DebugDumpDir(str(tmp_path / folder))
    assert {"y", "z"} <= set(found.nodes()) and "x" not in found.nodes()
    np.testing.assert_array_equal(found.get_tensors("y", 0, "DebugIdentity"), [[2.0, 0.0]])
    bad = found.find(debug.has_inf_or_nan)
    assert [datum.tensor_name for datum in bad] == ["z:0"]
    assert bad[0].device_name == "/job:localhost/replica:0/task:0/device:CPU:0"
    with pytest.raises(ValueError, match="does not exist"):
        found.get_tensors("nobody", 0)


def test_watch_options(tmp_path: Path) -> None:
    x, z = model()
    options = debug.WatchOptions(node_name_regex_whitelist="y$")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wrapped = debug.DumpingDebugWrapperSession(
            session, str(tmp_path), watch_fn=lambda fetches, feeds: options
        )
        wrapped.run(z, {x: [1.0, 1.0]})
    (folder,) = os.listdir(tmp_path)
    assert debug.DebugDumpDir(str(tmp_path / folder)).nodes() == ["y"]


def test_dumping_hook(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1, name="train")
    hook = debug.DumpingDebugHook(str(tmp_path))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(train)
        session.run(train)
    runs = sorted(os.listdir(tmp_path))
    assert len(runs) == 2
    assert debug.DebugDumpDir(str(tmp_path / runs[1])).size >= 1


def test_prompt() -> None:
    x, z = model()
    told = iter(["lt y", "pt y", "ni z", "nonsense", "run -f has_inf_or_nan", "run -n"])
    said: list[str] = []
    prompt = Prompt(lambda: next(told), said.append)
    init = tf.global_variables_initializer()
    session = tf.Session()
    session.run(init)
    with debug.LocalCLIDebugWrapperSession(session, prompt=prompt) as wrapped:
        wrapped.run(z, {x: [1.0, 1.0]})
        text = "\n".join(said)
        assert "Mul" in text and "[2. 3.]" in text and "op: Log" in text
        assert "Commands:" in text
        said.clear()
        wrapped.run(z, {x: [1.0, 1.0]})
        assert not said  # nothing passes the filter
        wrapped.run(z, {x: [0.0, 1.0]})
        assert "1 tensors pass the filter has_inf_or_nan: z:0" in said[0]
        said.clear()
        wrapped.run(z, {x: [0.0, 1.0]})
        assert not said


def test_a_prompt_without_a_terminal_goes_on() -> None:
    def nobody() -> str:
        raise EOFError

    said: list[str] = []
    prompt = Prompt(nobody, said.append)
    hook = debug.LocalCLIDebugHook(prompt=prompt)
    hook.add_tensor_filter("any", lambda datum, tensor: True)
    value = tf.add(tf.constant(1), 1)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(value) == 2
        assert session.run(value) == 2
    assert len(said) == 1


def test_slips_at_the_prompt_do_not_end_the_program() -> None:
    told = iter(["lt -f", "lt -f none", "lt (", "run -t many", "run -f none", "lt -f any", "run"])
    said: list[str] = []
    prompt = Prompt(lambda: next(told), said.append)
    prompt.filters["any"] = lambda datum, tensor: True
    x = tf.constant(1.0, name="x")
    with tf.Session() as session:
        wrapped = debug.LocalCLIDebugWrapperSession(session, prompt=prompt)
        assert wrapped.run(x) == 1.0
    assert sum("No filter" in each for each in said) == 3
    assert said[3].startswith("lt (: ") and said[4].startswith("run -t many: ")
    assert said[-1].endswith("x:0")


def test_sparse_tensors_are_fetched_and_fed(tmp_path: Path) -> None:
    fed = tf.sparse_placeholder(tf.float32)
    doubled = tf.SparseTensor(fed.indices, fed.values * 2.0, fed.dense_shape)
    value = tf.SparseTensorValue([[0]], [1.0], [2])
    hook = debug.LocalCLIDebugHook(dump_root=str(tmp_path / "d"), prompt=Prompt(lambda: "run -n"))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(doubled, {fed: value}).values == [2.0]
    (run,) = os.listdir(tmp_path / "d")
    assert debug.DebugDumpDir(str(tmp_path / "d" / run)).nodes()[-1] == "mul"


def test_settings_of_the_prompt_may_be_in_a_file() -> None:
    x, z = model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wrapped = debug.LocalCLIDebugWrapperSession(
            session,
            ui_type="readline",
            config_file_path=None,
            prompt=Prompt(lambda: "run", lambda _: None),
        )
        np.testing.assert_allclose(wrapped.run(z, {x: [1.0, 1.0]}), np.log([2.0, 3.0]), rtol=1e-6)


@pytest.mark.parametrize("by_hook", [False, True])
def test_weights_are_shown_as_the_step_has_read_them(by_hook: bool, tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
    loss = tf.reduce_sum(tf.log(w * x))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    feeds = {x: [0.0, 1.0]}
    if by_hook:
        hook = debug.DumpingDebugHook(str(tmp_path))
        init = tf.global_variables_initializer()
        with tf.train.MonitoredSession(
            tf.train.ChiefSessionCreator(tf.train.Scaffold(init_op=init)), [hook]
        ) as session:
            session.run(train, feeds)
    else:
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            debug.DumpingDebugWrapperSession(session, str(tmp_path)).run(train, feeds)
    (folder,) = os.listdir(tmp_path)
    found = debug.DebugDumpDir(str(tmp_path / folder))
    np.testing.assert_array_equal(found.get_tensors("w/read", 0, "DebugIdentity"), [[1.0, 2.0]])
    assert found.find(debug.has_inf_or_nan)[0].tensor_name != "w/read:0"
