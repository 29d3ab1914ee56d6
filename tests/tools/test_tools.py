"""Tools for graphs: freezing, stripping, optimizing and transforming them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.cli import saved_model_cli
from weft.cli.main import main
from weft.lib.tools.freeze_graph import freeze_graph, freeze_graph_with_def_protos
from weft.lib.tools.inspect_checkpoint import print_tensors_in_checkpoint_file
from weft.lib.tools.optimize_for_inference import fuse_resize_and_conv, optimize_for_inference
from weft.lib.tools.strip_unused import strip_unused, strip_unused_from_files
from weft.lib.tools.transforms import TransformGraph

X = np.arange(6, dtype=np.float32).reshape(2, 3)
FLOAT = tf.float32.as_datatype_enum


def run_graph(graph_def: Any, output: str, feeds: dict[str, Any]) -> Any:
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph, config=config) as session:
        tf.import_graph_def(graph_def, name="")
        return session.run(output, feeds)


def ops(graph_def: Any) -> dict[str, str]:
    return {node.name: node.op for node in graph_def.node}


@pytest.fixture
def model(tmp_path: Path) -> Any:
    """Files of a small trained model, and what it computes."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.get_variable("w", initializer=np.float32([[1.0], [2.0], [3.0]]))
        b = tf.get_variable("b", initializer=np.float32([0.5]), use_resource=True)
        y = tf.identity(tf.matmul(x, w) + b, name="y")
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(y))
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        prefix = saver.save(session, str(tmp_path / "m"))
        tf.train.write_graph(graph, str(tmp_path), "g.pbtxt")
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), {"x": x}, {"y": y})
        return tmp_path, prefix, graph.as_graph_def(), saver.as_saver_def(), session.run(y, {x: X})


@pytest.mark.parametrize("kind", ["graph", "saver", "meta", "saved_model"])
def test_freezing(kind: str, model: Any) -> None:
    folder, prefix, graph_def, saver_def, expected = model
    out = str(folder / "frozen.pb")
    with tf.Graph().as_default():
        if kind == "graph":
            freeze_graph(str(folder / "g.pbtxt"), "", False, prefix, "y", "", "", out, True, "")
        elif kind == "saver":
            freeze_graph_with_def_protos(
                graph_def, saver_def, prefix, "y", "", "", out, True, "",
            )  # fmt: skip
        elif kind == "meta":
            meta = f"{prefix}.meta"
            freeze_graph("", "", True, prefix, "y", "", "", out, True, "", input_meta_graph=meta)
        else:
            saved = str(folder / "saved")
            freeze_graph(
                "", "", True, "", "y", "", "", out, True, "", input_saved_model_dir=saved
            )  # fmt: skip
    frozen = tf.GraphDef.FromString((folder / "frozen.pb").read_bytes())
    assert not {"VariableV2", "VarHandleOp"} & set(ops(frozen).values())
    np.testing.assert_allclose(run_graph(frozen, "y:0", {"x:0": X}), expected)


def test_what_cannot_be_frozen(model: Any) -> None:
    _, prefix, graph_def, _, _ = model
    with pytest.raises(ValueError, match="Input checkpoint 'no' doesn't exist!"):
        freeze_graph_with_def_protos(graph_def, None, "no", "y", "", "", "", True, "")
    with pytest.raises(ValueError, match="supply the name of a node"):
        freeze_graph_with_def_protos(graph_def, None, prefix, "", "", "", "", True, "")
    with pytest.raises(OSError, match="Input graph file 'no' does not exist!"):
        freeze_graph("no", "", False, prefix, "y", "", "", "", True, "")
    frozen = freeze_graph_with_def_protos(graph_def, None, prefix, "y", "", "", "", True, "")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="cannot freeze a graph twice"):
        freeze_graph_with_def_protos(frozen, None, prefix, "y", "", "", "", True, "")


def test_the_command_line(model: Any, capfd: pytest.CaptureFixture[str]) -> None:
    folder, prefix, *_ = model
    command = [sys.executable, "-m", "weft", "run", "-m"]
    flags = [f"--input_graph={folder / 'g.pbtxt'}", f"--input_checkpoint={prefix}"]
    flags += [f"--output_graph={folder / 'f.pb'}", "--output_node_names=y"]
    subprocess.run([*command, "tensorflow.python.tools.freeze_graph", *flags], check=True)
    assert "y" in ops(tf.GraphDef.FromString((folder / "f.pb").read_bytes()))
    module = "tensorflow.python.tools.inspect_checkpoint"
    subprocess.run([*command, module, f"--file_name={prefix}", "--all_tensors"], check=True)
    assert "tensor_name:  b\n[0.5]\n" in capfd.readouterr().out


def test_names_under_tensorflow(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text(
        "from tensorflow.python.tools import freeze_graph, inspect_checkpoint, strip_unused_lib\n"
        "from tensorflow.python.tools import optimize_for_inference_lib, saved_model_cli\n"
        "from tensorflow.python.tools import saved_model_utils\n"
        "from tensorflow.tools.graph_transforms import TransformGraph\n"
        "print(freeze_graph.freeze_graph, inspect_checkpoint.print_tensors_in_checkpoint_file,\n"
        "      strip_unused_lib.strip_unused, optimize_for_inference_lib.optimize_for_inference,\n"
        "      saved_model_cli.main, saved_model_utils.get_meta_graph_def, TransformGraph)\n"
    )
    assert not main(["run", str(program)])


def test_looking_into_a_checkpoint(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _, prefix, *_ = model
    print_tensors_in_checkpoint_file(prefix, "b", False)
    assert capsys.readouterr().out == "tensor_name:  b\n[0.5]\n# Total number of params: 4\n"
    print_tensors_in_checkpoint_file(prefix, "", False, True, count_exclude_pattern="b")
    assert capsys.readouterr().out == (
        "tensor_name:  b\ntensor_name:  w\n"
        "# Excluding 1 tensors (1 params) that match b when counting.\n"
        "# Total number of params: 3\n"
    )
    print_tensors_in_checkpoint_file(prefix, None, False)
    assert "w (DT_FLOAT) [3,1]" in capsys.readouterr().out
    print_tensors_in_checkpoint_file(prefix, "none", False)
    assert "none" in capsys.readouterr().out


def test_saved_model_cli(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(model[0] / "saved")
    assert saved_model_cli.main(["show", "--dir", saved, "--all"]) == 0
    assert "signature_def['serving_default']:" in capsys.readouterr().out
    values = ["--tag_set", "serve", "--signature_def", "serving_default"]
    values += ["--input_exprs", "x=[[0, 1, 2], [3, 4, 5]]"]
    assert saved_model_cli.main(["run", "--dir", saved, *values]) == 0
    assert "26.5" in capsys.readouterr().out


def test_stripping(model: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _, graph_def, *_ = model
    stripped = strip_unused(graph_def, ["MatMul"], ["y"], FLOAT)
    assert ops(stripped)["MatMul"] == "Placeholder" and "x" not in ops(stripped)
    with pytest.raises(ValueError, match="appears to refer to a Tensor, not a Operation"):
        strip_unused(graph_def, ["x:0"], ["y"], FLOAT)
    with pytest.raises(KeyError, match="input nodes were not found"):
        strip_unused(graph_def, ["z"], ["y"], [FLOAT])
    files = str(folder / "g.pbtxt"), False, str(folder / "s.pbtxt"), False
    strip_unused_from_files(*files, "MatMul", "y", FLOAT)
    assert capsys.readouterr().out == f"{len(stripped.node)} ops in the final graph.\n"


def normalized(depthwise: bool) -> Any:
    """A convolution that is normalized, and what it gives."""
    rng = np.random.RandomState(0)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        x = tf.placeholder(tf.float32, [None, 5, 5, 2], name="x")
        weights = tf.constant(rng.rand(3, 3, 2, 2).astype("f"))
        convolve = tf.nn.depthwise_conv2d_native if depthwise else tf.nn.conv2d
        convolved = convolve(x, weights, strides=[1, 1, 1, 1], padding="SAME")
        n = int(convolved.shape[-1])
        values = [tf.constant(rng.rand(n).astype("f")) for _ in range(4)]
        result, *_ = tf.nn.fused_batch_norm(
            convolved, *values[:2], mean=values[2], variance=values[3], is_training=False
        )
        tf.identity(tf.identity(result), name="y")
        feeds = {"x:0": rng.rand(1, 5, 5, 2)}
        return graph.as_graph_def(), feeds, session.run("y:0", feeds)


@pytest.mark.parametrize("depthwise", [False, True])
def test_optimizing(depthwise: bool) -> None:
    graph_def, feeds, expected = normalized(depthwise)
    made = optimize_for_inference(graph_def, ["x"], ["y"], FLOAT)
    assert "BiasAdd" in ops(made).values()
    assert list(ops(made).values()).count("Identity") == 1
    assert not {"FusedBatchNorm", "FusedBatchNormV3"} & set(ops(made).values())
    np.testing.assert_allclose(run_graph(made, "y:0", feeds), expected, rtol=1e-4)
    again = TransformGraph(graph_def, ["x"], ["y"], ["fold_old_batch_norms"])
    np.testing.assert_allclose(run_graph(again, "y:0", feeds), expected, rtol=1e-4)


def test_fusing_pads() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 1], name="x")
        padded = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
        tf.nn.conv2d(padded, tf.ones([3, 3, 1, 1]), [1, 1, 1, 1], "VALID", name="y")
    made = fuse_resize_and_conv(graph.as_graph_def(), ["y"])
    assert ops(made)["y"] == "FusedPadConv2D" and "MirrorPad" not in ops(made).values()


# ---- TransformGraph ------------------------------------------------------------------------------


def chain() -> Any:
    """y = identity(x @ w * scale + (1 + 2)), with more beside it."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        w = tf.constant(np.linspace(-1, 2, 4 * 300, dtype=np.float32).reshape(4, 300), name="w")
        with tf.device("/gpu:0"):
            scaled = tf.multiply(tf.matmul(x, w), tf.constant(np.float32([2] * 300)), name="s")
        three = tf.add(tf.constant(1.0), tf.constant(2.0), name="three")
        with tf.control_dependencies([tf.no_op(name="first")]):
            passed = tf.identity(scaled, name="passed")
        tf.add(passed, three, name="y")
        tf.exp(x, name="unused")
    return graph.as_graph_def()


@pytest.mark.parametrize(
    ("transform", "gone", "there"),
    [
        ("strip_unused_nodes", "Exp", "MatMul"),
        ("remove_nodes(op=Identity, max_inputs=2)", "Identity", "Mul"),
        ("fold_constants(ignore_errors=true)", "Exp", "Const"),
        ("fold_batch_norms", "Mul", "MatMul"),
        ("quantize_weights(minimum_size=1000)", "", "Dequantize"),
        ("round_weights(num_steps=4096)", "", "Const"),
        ("sort_by_execution_order", "", "Exp"),
        ("remove_control_dependencies", "", "Identity"),
        ("remove_device", "", "MatMul"),
        ("merge_duplicate_nodes", "", "MatMul"),
        ("add_default_attributes", "", "MatMul"),
        ("obfuscate_names", "", "MatMul"),
        ('remove_attribute(attribute_name="_class")', "", "MatMul"),
        ("strip_unused_nodes fold_constants fold_batch_norms", "Mul", "MatMul"),
    ],
)
def test_transforms_leave_the_result(transform: str, gone: str, there: str) -> None:
    graph_def = chain()
    feeds = {"x:0": np.ones([2, 4], np.float32)}
    made = TransformGraph(graph_def, ["x"], ["y"], [transform])
    types = set(ops(made).values())
    assert there in types and gone not in types
    expected = run_graph(graph_def, "y:0", feeds)
    np.testing.assert_allclose(run_graph(made, "y:0", feeds), expected, atol=0.1)


def test_names_and_attributes_of_transforms() -> None:
    graph_def = chain()

    def transformed(*transforms: str) -> Any:
        return TransformGraph(graph_def, ["x"], ["y"], transforms)

    assert all(not node.device for node in transformed("remove_device").node)
    placed = transformed('set_device(device="/cpu:0", if_default=true)')
    assert {node.device for node in placed.node} == {"/cpu:0", "/device:GPU:0"}
    folded = transformed("fold_constants")
    assert ops(folded)["three"] == "Const" and "unused" not in ops(folded)
    packed = ops(transformed("quantize_weights"))
    assert {"w_quantized_const", "w_quantized_min", "w_quantized_max"} <= set(packed)
    assert packed["w"] == "Dequantize"
    assert set(ops(transformed("obfuscate_names"))) >= {"x", "y", "0", "1"}
    assert ops(transformed("rename_op(old_op_name=Exp, new_op_name=Log)"))["unused"] == "Log"
    stripped = TransformGraph(graph_def, ["s"], ["y"], ['strip_unused_nodes(shape="-1,300")'])
    source = next(node for node in stripped.node if node.name == "s")
    assert source.op == "Placeholder"
    assert [dim.size for dim in source.attr["shape"].shape.dim] == [-1, 300]


def test_what_cannot_be_transformed() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Transform 'no' not recog"):
        TransformGraph(chain(), ["x"], ["y"], ["no"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one 'op'"):
        TransformGraph(chain(), ["x"], ["y"], ["remove_nodes"])
    same = TransformGraph(chain(), ["x"], ["y"], ["remove_nodes(ignore_errors=true)"])
    assert ops(same) == ops(chain())
