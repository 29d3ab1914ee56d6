"""tf.profiler: the numbers and lines are those of TensorFlow 2.21 for the same graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf

Options = tf.profiler.ProfileOptionBuilder

BY_SCOPE = """
node name | # float_ops
_TFProfRoot (--/7.02k flops)
  c/Conv2D (5.76k/5.76k flops)
  a/MatMul (1.02k/1.02k flops)
  Mean (160/160 flops)
  a/add (64/64 flops)
  a/half (5/8 flops)
    a/half/mul (2/3 flops)
      a/half/mul/neg (1/1 flops)
"""
PARAMETERS = """
node name | # parameters
_TFProfRoot (--/234 params)
  a (--/144 params)
    a/b (16, 16/16 params)
    a/w (8x16, 128/128 params)
  c (--/90 params)
    c/k (3x3x2x5, 90/90 params)
"""


def variable(name: str, shape: list[int]) -> tf.Variable:
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer())


@pytest.fixture
def net() -> tf.Tensor:
    x = tf.placeholder(tf.float32, [4, 8], name="x")
    with tf.variable_scope("a"):
        y = tf.nn.relu(tf.matmul(x, variable("w", [8, 16])) + variable("b", [16]))
    with tf.variable_scope("c"):
        z = tf.nn.conv2d(tf.reshape(y, [4, 4, 2, 2]), variable("k", [3, 3, 2, 5]), 1, "SAME")
    return tf.reduce_mean(z, name="Mean")


def report_of(printed: str) -> str:
    text, end, _ = printed.split("Profile:")[1].partition("\n======")
    assert end
    return text.rstrip() + "\n"


def test_float_operations_by_scope(net, capsys):
    one = tf.constant([1.0])
    tf.square(tf.constant([1.0] * 5), name="a/half")
    tf.multiply(tf.constant([1.0, 2.0]), one, name="a/half/mul")
    tf.negative(one, name="a/half/mul/neg")
    found = tf.profiler.profile(options=Options.float_operation())
    assert found.total_float_ops == 5760 + 1024 + 160 + 64 + 8
    assert [child.name for child in found.children][:2] == ["c/Conv2D", "a/MatMul"]
    assert report_of(capsys.readouterr().out) == BY_SCOPE


def test_trainable_parameters_are_the_default(net, capsys):
    tf.get_variable("still", [100], trainable=False, initializer=tf.zeros_initializer())
    found = tf.profiler.profile(tf.get_default_graph())
    assert found.total_parameters == 234
    assert found.total_definition_count == 6
    assert report_of(capsys.readouterr().out) == PARAMETERS


def test_the_earlier_names(net, capsys):
    analyzer = tf.contrib.tfprof.model_analyzer
    found = analyzer.print_model_analysis(
        tf.get_default_graph(), tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
    )
    assert found.total_parameters == 234
    assert report_of(capsys.readouterr().out) == PARAMETERS


def test_by_type(net, capsys):
    found = tf.profiler.profile(cmd="op", options=Options.float_operation())
    lines = report_of(capsys.readouterr().out).splitlines()
    assert lines[2] == "Conv2D                   5.76k float_ops (100.00%, 82.19%)"
    assert (found.total_float_ops, found.float_ops) == (7008, 0)
    first = found.children[0]
    assert (first.name, first.float_ops, first.total_float_ops) == ("Conv2D", 5760, 7008)
    assert [node.name for node in first.graph_nodes] == ["c/Conv2D"]
    assert first.children[0].name == "MatMul"


def test_occurrence(net, tmp_path: Path):
    path = tmp_path / "profile.txt"
    asked = Options().order_by("occurrence").select(["occurrence"]).with_file_output(str(path))
    tf.profiler.profile(cmd="op", options=asked.build())
    lines = path.read_text().splitlines()
    assert lines[0] == "node name | op occurrence (run|defined)"
    counts = [int(line.rpartition("|")[2]) for line in lines[1:]]
    assert counts == sorted(counts, reverse=True) and counts[0] > 1
    asked.select(["params", "op_types", "occurrence"])
    tf.profiler.profile(options=asked.order_by("name").with_max_depth(2).build())
    lines = path.read_text().splitlines()
    assert lines[0] == "node name | # parameters | op types | op count (run|defined)"
    # A placeholder counts, too: 234 + 32.
    assert lines[1].startswith("_TFProfRoot (--/266 params, _kTFScopeParent, --/0|")
    assert lines[-1] == "  x (4x8, 32/32 params, Placeholder, 0/0|1/1)"


def test_names_depth_and_files(net, tmp_path: Path, capsys):
    path = tmp_path / "profile.txt"
    asked = Options(Options.trainable_variables_parameter())
    asked.with_node_names(show_name_regexes=["a.*"]).with_file_output(str(path))
    tf.profiler.profile(options=asked.build())
    assert path.read_text().splitlines()[1:] == [
        "_TFProfRoot (--/144 params)",
        "  a (--/144 params)",
        "    a/b (16, 16/16 params)",
        "    a/w (8x16, 128/128 params)",
    ]
    earlier = Options.trainable_variables_parameter() | {"dump_to_file": str(path)}
    tf.profiler.profile(options=earlier)
    assert path.read_text() == PARAMETERS.lstrip()
    found = tf.profiler.profile(options=asked.with_max_depth(2).with_empty_output().build())
    assert [child.name for child in found.children] == ["a"]
    assert not found.children[0].children
    assert capsys.readouterr().out == ""


def test_time_of_a_step(net):
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    run_meta = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {"x:0": np.ones([4, 8], np.float32)}
        session.run(net, feed, options=options, run_metadata=run_meta)
    profiler = tf.profiler.Profiler(tf.get_default_graph())
    profiler.add_step(3, run_meta)
    asked = Options(Options.time_and_memory(min_micros=0, min_bytes=0)).with_empty_output()
    asked.select(["micros", "occurrence"])
    measured = profiler.profile_name_scope(asked.with_step(3).build())
    assert measured.total_run_count > 0
    assert measured.total_exec_micros == measured.total_cpu_exec_micros
    other = profiler.profile_operations(asked.with_step(9).build())
    assert other.total_exec_micros == 0
    assert (
        "ExpensiveOperationChecker" in profiler.advise({"ExpensiveOperationChecker": {}}).checkers
    )


def test_memory_of_a_step(capsys):
    x = tf.placeholder(tf.float32, [None, 8])
    with tf.variable_scope("a"):
        product = tf.matmul(x, tf.get_variable("w", [8, 4]), name="product")
        result = tf.reshape(tf.identity(product), [-1])
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    run_meta = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(result, {x: np.ones([4, 8])}, options=options, run_metadata=run_meta)
    found = tf.profiler.profile(run_meta=run_meta, options=Options.time_and_memory())
    (scope,) = found.children
    sizes = {node.name: node.requested_bytes for node in scope.children}
    # What passes a value on, or gives a view of it, takes no memory.
    assert scope.name == "a" and sizes["a/product"] == 64
    assert "a/Identity" not in sizes and sizes.get("a/Reshape", 0) == 0
    assert found.total_requested_bytes >= 64 and found.total_residual_bytes >= 64
    assert "a/product (64B/64B" in capsys.readouterr().out


def test_unknown_shapes_are_told(capsys):
    x = tf.placeholder(tf.float32, [None, 8])
    tf.matmul(x, tf.zeros([8, 2]))
    asked = Options(Options.float_operation()).with_empty_output().build()
    assert tf.profiler.profile(options=asked).total_float_ops == 0
    assert capsys.readouterr().err == "1 ops no flops stats due to incomplete shapes.\n"


def test_the_log_of_operations(net, tmp_path: Path):
    tf.profiler.write_op_log(tf.get_default_graph(), str(tmp_path))
    log = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in log.log_entries}
    assert entries["c/Conv2D"].float_ops == 5760
    assert list(entries["a/w"].types) == ["_trainable_variables"]


def test_what_cannot_be_asked(net):
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown cmd: x"):
        tf.profiler.profile(cmd="x")


def dense(x: tf.Tensor, name: str) -> tf.Tensor:
    w = variable(name, [x.shape[1].value, 4])
    return tf.matmul(x, w, name=f"{name}_product")


def trained() -> tuple[tf.Tensor, tf.Operation]:
    hidden = dense(tf.placeholder(tf.float32, [2, 8], name="x"), "first")
    loss = tf.reduce_mean(dense(hidden, "second"), name="loss")
    return loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def test_by_line_of_python(capsys):
    trained()
    asked = Options(Options.float_operation()).with_node_names(
        show_name_regexes=[".*:(dense|trained).*"]
    )
    found = tf.profiler.profile(cmd="code", options=asked.build())
    report = report_of(capsys.readouterr().out)
    assert isinstance(found, tf.profiler.MultiGraphNodeProto)
    lines = [line.strip() for line in report.splitlines()]
    # Products of 2x8 with 8x4 and of 2x4 with 4x4; their gradients are the same lines', apart.
    made = [line for line in lines if f":{dense.__code__.co_firstlineno + 2}:dense" in line]
    assert sorted(line.partition(":dense")[2] for line in made) == [
        " (128/128 flops)", " (64/64 flops)", " (gradient) (128/128 flops)",
        " (gradient) (256/256 flops)",
    ]  # fmt: skip
    above = [line for line in lines if ":trained (gradient)" in line]
    sums = [line.partition("(gradient) ")[2] for line in above]
    assert sums == ["(0/256 flops)", "(0/128 flops)", "(8/8 flops)"]
    assert report.splitlines()[1] == "node name | # float_ops"


def test_along_the_graph(capsys):
    trained()
    asked = Options(Options.float_operation()).with_node_names(start_name_regexes=["loss"])
    found = tf.profiler.profile(cmd="graph", options=asked.build())
    (loss,) = found.children
    assert loss.name == "loss" and loss.float_ops == 8
    plain = Options(Options.float_operation()).with_empty_output().build()
    assert tf.profiler.profile(cmd="graph", options=plain).total_float_ops == (
        tf.profiler.profile(cmd="scope", options=plain).total_float_ops
    )
    assert "_TFProfRoot (--/" in capsys.readouterr().out


def test_the_frame_of_a_report(net, capsys):
    tf.profiler.profile(options=Options.float_operation())
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "=========================Options============================="
    assert lines[2] == "-max_depth                  10000"
    assert "-output                     stdout:" in lines
    assert lines[-1] == "======================End of Report=========================="
