"""Names that a model or checkpoint brings: shown so that no terminal obeys them, and no way out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft as tf
from weft.cli.main import main
from weft.core import dtypes
from weft.core.printable import escaped, escaped_lines
from weft.protos.saved_model import SavedModel
from weft.storage.bundle import BundleWriter

EVIL = "a\x1b]0;owned\x07\x1b[2J\u202eb\u009b1m\rc"


@given(st.text())
def test_what_is_shown_is_printable(text: str) -> None:
    shown = escaped(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)
    assert escaped(shown) == shown
    lines = escaped_lines(text)
    assert lines.count("\n") == text.count("\n") and "\x1b" not in lines


def test_letters_of_all_kinds_stay() -> None:
    assert escaped("größe 変数 \\n ½") == "größe 変数 \\n ½"
    assert escaped("a\x1b[1m\u202e") == "a\\x1b[1m\\u202e"


def export(folder: Path, output: str) -> str:
    """A SavedModel with an output of this name."""
    path = str(folder / "export")
    with tf.Session(graph=tf.Graph()) as session:
        x = tf.placeholder(tf.float32, [None])
        tf.saved_model.simple_save(session, path, {"x": x}, {output: x + 1})
    return path


def test_saved_models_are_shown_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = export(tmp_path, EVIL)
    for arguments in (["show", path, "--all"], ["run", path, "--input_exprs", "x=[1.0]"]):
        assert main(["saved-model", *arguments]) == 0
        out = capsys.readouterr().out
        assert escaped(EVIL) in out and not set("\x1b\x07\r\x9b\u202e") & set(out)
    assert main(["saved-model", "show", path, "--tag_set", EVIL]) == 1
    assert "\x1b" not in capsys.readouterr().err


def test_checkpoints_are_shown_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add(EVIL.encode(), np.ones(2, np.float32), dtypes.float32)
    for extra in [], ["--values", EVIL], ["--values", "\x1b[2J"]:
        main(["checkpoint", "show", str(tmp_path / "m"), *extra])
        streams = capsys.readouterr()
        assert "\x1b" not in streams.out + streams.err
        assert "\\x1b" in streams.out + streams.err


@pytest.mark.parametrize("name", ["../escaped", "/tmp/escaped", "a/b", "..", "a\\b"])
def test_outputs_are_saved_in_the_folder_only(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = export(tmp_path, name)
    before = sorted(tmp_path.rglob("*"))
    asked = ["saved-model", "run", path, "--input_exprs", "x=[1.0]"]
    assert main([*asked, "--outdir", str(tmp_path / "out")]) == 1
    assert "cannot be the name of a file" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before
    assert main(asked) == 0


@pytest.mark.parametrize("name", ["../../secret", "/etc/hostname", "sub/../../../secret"])
@pytest.mark.parametrize("load", ["loader", "objects"])
def test_assets_are_in_the_model(name: str, load: str, tmp_path: Path) -> None:
    path = export(tmp_path, "y")
    file = Path(path) / "saved_model.pb"
    message = SavedModel.FromString(file.read_bytes())
    asset = message.meta_graphs[0].asset_file_def.add(filename=name)
    asset.tensor_info.name = "Placeholder:0"
    graph = message.meta_graphs[0]
    graph.collection_def["saved_model_main_op"].node_list.value.append("Placeholder")
    file.write_bytes(message.SerializeToString())
    with tf.Session(graph=tf.Graph()) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in its folder of assets"):
            if load == "loader":
                tf.saved_model.loader.load(session, ["serve"], path)
            else:
                tf.saved_model.load_v2(path)
