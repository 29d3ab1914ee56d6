"""SavedModels that TensorFlow wrote load and compute what they computed there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.saved_model.models import CASES, DATA, ROWS, WORDS, answers

RECORDED = json.loads((DATA / "answers.json").read_text())


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("name", CASES)
def test_answers_of_tensorflows_models(name: str) -> None:
    assert plain(answers(tf, DATA / name, CASES[name][1])) == RECORDED[name]


@pytest.mark.parametrize("name", CASES)
def test_answers_of_our_models(name: str, tmp_path: Path) -> None:
    export, asks = CASES[name]
    export(tf, tmp_path / name)
    (tmp_path / "words.txt").unlink(missing_ok=True)
    assert plain(answers(tf, tmp_path / name, asks)) == RECORDED[name]


def test_files_are_where_tensorflow_puts_them(tmp_path: Path) -> None:
    for name, (export, _) in CASES.items():
        with tf.Graph().as_default():
            export(tf, tmp_path / name)
        theirs, ours = (
            {str(path.relative_to(root / name)) for path in (root / name).rglob("*")}
            for root in (DATA, tmp_path)
        )
        assert ours == theirs - {"fingerprint.pb"}
    assert (tmp_path / "words" / "assets" / "words.txt").read_text() == WORDS


# Of ragged tensors, TensorFlow 2 also writes how many parts they have.
@pytest.mark.parametrize("name", ["simple", "words"])
def test_signatures_and_tags_are_tensorflows(name: str, tmp_path: Path) -> None:
    from weft.lib.saved_model.files import read_saved_model

    CASES[name][0](tf, tmp_path / name)
    ours, theirs = (read_saved_model(root / name).meta_graphs for root in (tmp_path, DATA))
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine.meta_info_def.tags == wanted.meta_info_def.tags
        assert mine.signature_def == wanted.signature_def
        assert set(mine.collection_def) == set(wanted.collection_def)


def test_model_of_tensorflow_2() -> None:
    """Its signature calls a function, its variables are saved by the place of objects."""
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.load(session, ["serve"], str(DATA / "functional"))
        signature = graph.signature_def["serving_default"]
        x = tf.saved_model.get_tensor_from_tensor_info(signature.inputs["x"])
        y = tf.saved_model.get_tensor_from_tensor_info(signature.outputs["y"])
        for _ in range(2):
            np.testing.assert_allclose(session.run(y, {x: ROWS}), RECORDED["functional"], rtol=1e-6)
