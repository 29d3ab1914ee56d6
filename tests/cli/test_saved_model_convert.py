"""`weft saved-model freeze`, `optimize`, `quantize` and `export`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import weft as tf
from tests.cli.test_saved_model import printed, refused
from tests.saved_model.models import DATA, ROWS

SIMPLE, WORDS, FUNCTIONAL = (str(DATA / name) for name in ("simple", "words", "functional"))
IMAGES = np.random.default_rng(0).normal(size=[3, 8, 8, 3]).astype(np.float32)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A convolution with a batch norm, flattened to scores; trained a little by assignment."""
    folder = str(tmp_path_factory.mktemp("network") / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
        y = tf.layers.conv2d(x, 16, 3, use_bias=False, padding="same")
        y = tf.nn.relu(tf.layers.batch_normalization(y))
        y = tf.layers.max_pooling2d(y, 2, 2)
        y = tf.layers.dense(tf.layers.flatten(y), 10)
        scores = tf.nn.softmax(tf.check_numerics(y, "scores"), name="scores")
        session.run(tf.global_variables_initializer())
        for variable in tf.global_variables():
            if "moving" in variable.name:
                variable.load(np.linspace(0.5, 1.5, 16, dtype=np.float32), session)
        tf.saved_model.simple_save(session, folder, {"x": x}, {"scores": scores, "logits": y})
    return folder


def expected(folder: str, values: dict[str, Any]) -> dict[str, np.ndarray]:
    """What the SavedModel itself computes."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], folder)
        signature = model.signature_def["serving_default"]
        feeds = {signature.inputs[key].name: value for key, value in values.items()}
        found: dict[str, np.ndarray] = session.run(
            {key: info.name for key, info in signature.outputs.items()}, feeds
        )
    return found


def computed(path: Path, fetches: dict[str, str], feeds: dict[str, Any]) -> dict[str, np.ndarray]:
    """What a GraphDef in a file computes, without any initializer."""
    graph_def = GraphDef()
    graph_def.ParseFromString(path.read_bytes())
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        found: dict[str, np.ndarray] = session.run(fetches, feeds)
    return found


def names_of(out: str, kind: str) -> dict[str, str]:
    """Key -> tensor, as the command prints them."""
    lines = (line.split() for line in out.splitlines() if line.startswith(f"{kind} "))
    return {key.removesuffix(":"): name for _, key, name in lines}


def test_a_frozen_graph_needs_no_variables(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "model.pb"
    out = printed(capsys, "freeze", SIMPLE, "--output", str(path))
    assert "4 variables frozen\ninput x: x:0\noutput y: y:0\n" in out
    found = computed(path, {"y": "y:0"}, {"x:0": ROWS})
    np.testing.assert_array_equal(found["y"], expected(SIMPLE, {"x": ROWS})["y"])


def test_functions_that_use_variables_are_inlined(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "model.pb"
    out = printed(capsys, "freeze", FUNCTIONAL, "--output", str(path))
    found = computed(path, names_of(out, "output"), {names_of(out, "input")["x"]: ROWS})
    np.testing.assert_array_equal(found["y"], expected(FUNCTIONAL, {"x": ROWS})["y"])


def test_a_frozen_graph_is_written_as_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    printed(capsys, "freeze", SIMPLE, "--output", str(tmp_path / "model.pbtxt"), "--text")
    assert 'op: "Const"' in (tmp_path / "model.pbtxt").read_text()


def test_parts_of_sparse_inputs_and_tables_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = str(tmp_path / "model.pb")
    out = printed(capsys, "freeze", WORDS, "--signature_def", "sparse", "--output", path)
    assert "sparse/values:0" in names_of(out, "input").values()
    out = printed(capsys, "freeze", WORDS, "--signature_def", "regress", "--output", path)
    assert "tables stay empty until they are initialized: " in out


def test_optimize_folds_and_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, network: str
) -> None:
    path = tmp_path / "model.pb"
    out = printed(capsys, "optimize", network, "--output", str(path))
    assert "CheckNumerics -1" in out
    assert "fold batch norms into convolutions: " in out
    assert "BiasAdd +1" in out and "FusedBatchNormV3 -1" in out
    found = computed(path, names_of(out, "output"), {"x:0": IMAGES})
    for key, value in expected(network, {"x": IMAGES}).items():
        np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("action", ["freeze", "optimize"])
def test_an_unknown_signature_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, action: str
) -> None:
    path = tmp_path / "model.pb"
    told = refused(capsys, action, SIMPLE, "--signature_def", "no", "--output", str(path))
    assert 'there is no SignatureDef with key "no"; found: "serving_default"' in told
    assert not path.exists()


# ---- export -------------------------------------------------------------------------------------


def test_stablehlo_is_a_function_of_any_batch(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, network: str
) -> None:
    pytest.importorskip("flatbuffers")
    from jax import export

    path = tmp_path / "model.stablehlo"
    out = printed(capsys, "export", network, "--to", "stablehlo", "--output", str(path))
    assert "input x: (?, 8, 8, 3)" in out
    artifact = export.deserialize(bytearray(path.read_bytes()))
    for count in (1, 3):
        values = {"x": IMAGES[:count]}
        found = artifact.call(values)
        for key, value in expected(network, values).items():
            np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5)


def test_stablehlo_has_fixed_sizes_where_open_ones_cannot_be_traced(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("flatbuffers")
    to = ["--to", "stablehlo", "--output", str(tmp_path / "model.stablehlo")]
    out = printed(capsys, "export", FUNCTIONAL, *to, "--batch_size", "5")
    assert "sizes are fixed, for open ones cannot be traced: " in out
    assert "input x: (5, 3)" in out
    np.save(tmp_path / "x.npy", ROWS)
    out = printed(capsys, "export", FUNCTIONAL, *to, "--inputs", f"x={tmp_path}/x.npy")
    assert "input x: (2, 3)" in out and "output y: differs by at most 0" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([WORDS, "--signature_def", "regress"], "the input 'inputs' is of type string"),
        ([SIMPLE, "--signature_def", "no"], 'there is no SignatureDef with key "no"'),
        ([SIMPLE, "--input_exprs", "z=1"], '"z" is not a valid input key'),
    ],
)
def test_what_stablehlo_cannot_express_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    path = tmp_path / "model.stablehlo"
    told = refused(capsys, "export", *arguments, "--to", "stablehlo", "--output", str(path))
    assert message in told
    assert not path.exists()


def test_operations_without_an_equivalent_are_listed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.string_to_number(tf.as_string(x)) + tf.random_uniform([])
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    to = ["--to", "stablehlo", "--output", str(tmp_path / "out")]
    told = refused(capsys, "export", str(tmp_path / "model"), *to)
    assert "without an equivalent in StableHLO: AsString, RandomUniform, StringToNumber" in told


def test_what_is_missing_for_stablehlo_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "flatbuffers", None)
    monkeypatch.delitem(sys.modules, "jax._src.export.serialization", raising=False)
    to = ["--to", "stablehlo", "--output", str(tmp_path / "out")]
    assert "pip install 'weft[export]'" in refused(capsys, "export", SIMPLE, *to)


# ---- quantize -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "near"), [("int8", 0.02), ("bfloat16", 0.02)])
def test_a_quantized_model_is_smaller_and_nearly_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, network: str, kind: str, near: float
) -> None:
    folder = str(tmp_path / "small")
    np.save(tmp_path / "x.npy", IMAGES)
    out = printed(capsys, "quantize", network, "--to", kind, "--output", folder, "--inputs",
                  f"x={tmp_path}/x.npy", "--fewest", "256")  # fmt: skip
    assert ("[3, 3, 3, 16], 16 scales" in out) == (kind == "int8")
    assert "output logits: differs by at most " in out
    assert "the same largest element in 100.0% of rows" in out
    before, after = map(int, re.findall(r"(\d+) bytes before, (\d+) after", out)[0])
    assert after < before * (0.5 if kind == "int8" else 0.7)
    wanted, found = (expected(each, {"x": IMAGES}) for each in (network, folder))
    for key, value in wanted.items():
        np.testing.assert_allclose(found[key], value, atol=near * np.abs(value).max())


def test_a_quantized_graph_has_a_scale_for_each_row_that_is_gathered(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder, path = str(tmp_path / "model"), tmp_path / "small.pb"
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.placeholder(tf.int32, [None], name="ids")
        table = tf.get_variable("table", [40, 32], initializer=tf.random_normal_initializer(seed=1))
        with tf.control_dependencies([table.op]):  # which uses no element of it
            rows = tf.gather(table, ids, name="rows")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, folder, {"ids": ids}, {"rows": rows})
    out = printed(capsys, "quantize", folder, "--graph", "--output", str(path))
    assert "int8: table [40, 32], 40 scales" in out
    ids_of_rows = np.arange(40)
    found = computed(path, {"rows": "rows:0"}, {"ids:0": ids_of_rows})
    wanted = expected(folder, {"ids": ids_of_rows})["rows"]
    off = np.abs(found["rows"] - wanted).max(1)
    assert np.all(off <= np.abs(wanted).max(1) / 127 * 0.5001)


def test_a_model_without_large_weights_is_not_quantized(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = refused(capsys, "quantize", SIMPLE, "--output", str(tmp_path / "small"))
    assert "there are no weights of 1024 elements or more to quantize" in told


def test_onnx_is_compared_and_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, network: str
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    path = tmp_path / "model.onnx"
    out = printed(capsys, "export", network, "--to", "onnx", "--output", str(path))
    assert "output logits: differs by at most " in out
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (scores,) = session.run(["scores"], {"x": IMAGES})
    np.testing.assert_allclose(scores, expected(network, {"x": IMAGES})["scores"], atol=1e-5)


def test_what_onnx_lacks_ends_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("onnx")
    path = tmp_path / "model.onnx"
    told = refused(capsys, "export", FUNCTIONAL, "--to", "onnx", "--output", str(path))
    assert "operations without an equivalent in ONNX: StatelessWhile" in told
    assert not path.exists()
