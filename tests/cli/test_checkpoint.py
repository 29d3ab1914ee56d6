"""`weft checkpoint show`."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from tests.parity.checkpoints import FOLDER, every_dtype
from weft.cli.main import main


def test_lists_names_types_shapes_and_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "show", str(FOLDER / "every_dtype")]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines[1:-1]}
    assert set(found) == set(every_dtype())
    assert found["all/float32"][0] == "float32"
    assert found["all/float32"][1].split() == ["2", "x", "3", "24", "B"]
    assert " ".join(found["scalar"]).split() == ["int64", "scalar", "8", "B"]
    assert lines[-1].startswith(f"{len(found)} tensors, ")


@pytest.mark.parametrize("suffix", ["", ".index", ".data-00000-of-00001"])
def test_partitioned_tensors_are_one(capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    assert main(["checkpoint", "show", str(FOLDER / f"partitioned{suffix}")]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:-1]]
    assert names == ["r/rows", "rows", "whole"]


def test_values_and_v1(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["checkpoint", "show", str(FOLDER / "v1"), "--values", "global_step"]
    assert main([*arguments, "--values", "beta1_power"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("global_step =\n1\nbeta1_power =\n0.8")


def test_the_latest_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "show", str(tmp_path)]) == 1
    assert "holds no checkpoint" in capsys.readouterr().err
    v = tf.Variable([1.5, 2.5], name="v")
    with tf.Session() as sess:
        sess.run(v.initializer)
        tf.train.Saver().save(sess, str(tmp_path / "m"), global_step=3)
    assert main(["checkpoint", "show", str(tmp_path)]) == 0
    assert "m-3" in capsys.readouterr().out


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "show", str(tmp_path / "x")]) == 1
    assert "there is no checkpoint at" in capsys.readouterr().err
    assert main(["checkpoint", "show", str(FOLDER / "many"), "--values", "x"]) == 1
    assert "Key x not found in checkpoint" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["checkpoint"])
