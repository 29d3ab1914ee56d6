"""`weft saved-model show` and `run`."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.saved_model.models import DATA, ROWS
from weft.cli.main import main
from weft.cli.saved_model_run import literals_of

SIMPLE, WORDS = str(DATA / "simple"), str(DATA / "words")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = main(["saved-model", *arguments])
    streams = capsys.readouterr()
    assert code == 0, streams.err
    return streams.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["saved-model", *arguments]) == 1
    return capsys.readouterr().err


def test_show_goes_from_tags_to_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "show", WORDS).splitlines()[1:] == ["serve", "gpu, train"]
    keys = printed(capsys, "show", WORDS, "--tag_set", "serve").splitlines()[1:]
    assert keys == [f'SignatureDef key: "{key}"' for key in ("classify", "regress", "sparse")]
    text = printed(capsys, "show", SIMPLE, "--tag_set", "serve", "--signature_def",
                   "serving_default")  # fmt: skip
    assert text.splitlines() == [
        "The given SavedModel SignatureDef contains the following input(s):",
        "  inputs['x'] tensor_info:",
        "      dtype: DT_FLOAT",
        "      shape: (-1, 3)",
        "      name: x:0",
        "The given SavedModel SignatureDef contains the following output(s):",
        "  outputs['y'] tensor_info:",
        "      dtype: DT_FLOAT",
        "      shape: (-1, 1)",
        "      name: y:0",
        "Method name is: tensorflow/serving/predict",
    ]


def test_show_all(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "show", WORDS, "--all")
    assert "MetaGraphDef with tag-set: 'train, gpu' contains" in text
    assert "signature_def['sparse']:" in text
    assert "name: sparse/indices:0, sparse/values:0, sparse/shape:0 (sparse)" in text


def test_run_with_literals_examples_and_files(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = printed(capsys, "run", SIMPLE, "--input_exprs", "x=[[1.0, 2.0, 3.0]]")
    assert out == "Result for output key y:\n[[14.75]]\n"
    features = 'inputs=[{"word": ["lake"]}, {"word": ["no;body"]}]'
    out = printed(capsys, "run", WORDS, "--signature_def", "regress", "--input_examples", features)
    assert out == "Result for output key outputs:\n[ 2. -2.]\n"
    np.save(tmp_path / "x.npy", ROWS)
    np.savez(tmp_path / "both.npz", a=ROWS[:1], b=ROWS[1:])
    where = f"x={tmp_path}/both.npz[b]", f"x={tmp_path}/x.npy"
    for inputs, wanted in zip(where, ("[[9.25]]", "[[14.75]\n [ 9.25]]"), strict=True):
        assert wanted in printed(capsys, "run", SIMPLE, "--inputs", inputs)


def test_outputs_are_saved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ask = ["run", WORDS, "--signature_def", "classify", "--input_examples",
           'inputs=[{"word": ["lake"]}]', "--outdir", str(tmp_path / "out")]  # fmt: skip
    assert f"Output scores is saved to {tmp_path}/out/scores.npy" in printed(capsys, *ask)
    assert np.load(tmp_path / "out" / "classes.npy").tolist() == [b"1"]
    assert 'Add "--overwrite"' in refused(capsys, *ask)
    printed(capsys, *ask, "--overwrite")


def test_ragged_tensors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = tf.ragged.placeholder(tf.float32, 1, [], name="rows")
    with tf.Session() as session:
        tf.saved_model.simple_save(session, str(tmp_path), {"rows": rows}, {"twice": rows * 2.0})
    lines = printed(capsys, "show", str(tmp_path), "--all")
    assert "name: rows/flat_values:0, rows/row_splits_0:0 (RaggedTensorSpec)" in lines
    out = printed(capsys, "run", str(tmp_path), "--input_exprs", "rows=[[1.0], [], [2.0, 3.0]]")
    assert "<tf.RaggedTensorValue [[2.0], [], [4.0, 6.0]]>" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "At least one of --inputs"),
        (["--input_exprs", "x=__import__('os').getcwd()"], "is not a valid python literal"),
        (["--input_exprs", "x"], "format is incorrect"),
        (["--input_exprs", "z=1"], '"z" is not a valid input key. Please choose from "x"'),
        (["--inputs", "x=[3]"], "format is incorrect"),
        (["--inputs", "x=nowhere.npy"], "nowhere.npy"),
        (["--input_examples", "x={}"], "must be a list of dictionaries"),
        (["--input_exprs", "x=1", "--signature_def", "no"], 'found: "serving_default"'),
        (["--input_exprs", "x=1", "--tag_set", "no"], "MetaGraphDef associated with tags 'no'"),
    ],
)
def test_errors(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refused(capsys, "run", SIMPLE, *arguments)


def test_pickles_are_not_loaded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps({"x": 1}))
    assert "cannot read" in refused(capsys, "run", SIMPLE, "--inputs", f"x={path}")
    np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
    assert "cannot read" in refused(capsys, "run", SIMPLE, "--inputs", f"x={tmp_path}/o.npy")


def test_semicolons_in_quotes_do_not_separate() -> None:
    assert literals_of("a='x;y';b=[1, 2];") == {"a": "x;y", "b": [1, 2]}
