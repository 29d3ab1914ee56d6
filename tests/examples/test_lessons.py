"""The ordinary programs among the examples, as scripts and as notebooks."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.examples.test_examples import number, run

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {  # example -> (its options, what it prints at the end)
    "digits_cnn": (["--steps", "5"], r"Test accuracy: [0-9.]+"),
    "char_rnn": (["--steps", "5"], r"(?s)Loss at the end: [0-9.]+\nthe .{160}"),
    "fine_tuning": (["--steps", "5"], r"5 to 9, from nothing: +accuracy [0-9.]+"),
    "keras_digits": (["--epochs", "1"], r"Loaded weights give the same answers: True"),
    "estimator_columns": (["--steps", "5"], r"9.0, 0.0, sun, ulm: goes by bicycle with \d+%"),
    "gan": (["--steps", "5"], r"Brightness: drawn [0-9.]+, real 0.1"),
}


def making() -> ModuleType:
    path = EXAMPLES / "make_notebooks.py"
    spec = importlib.util.spec_from_file_location("make_notebooks", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_test_for_each() -> None:
    assert [path.stem for path in making().scripts()] == sorted(SHORT)


@pytest.mark.parametrize("name", SHORT)
def test_notebooks_are_what_the_scripts_are(name: str) -> None:
    script = (EXAMPLES / f"{name}.py").read_text()
    written = (EXAMPLES / f"{name}.ipynb").read_text()
    assert written == making().notebook(script), "run `python examples/make_notebooks.py`"
    code = [cell["source"] for cell in json.loads(written)["cells"] if cell["cell_type"] == "code"]
    lines = [line.rstrip("\n") for cell in code for line in cell if line.strip()]
    kept = [line for line in script.splitlines() if line.strip() and not line.startswith("# ")]
    assert lines == [line for line in kept if line != "#"]


@pytest.mark.parametrize("name", SHORT)
def test_scripts(name: str) -> None:
    options, expected = SHORT[name]
    printed = run(f"examples/{name}.py", *options)
    assert re.search(expected, printed), printed


@pytest.mark.slow
def test_a_notebook(tmp_path: Path) -> None:
    target = tmp_path / "done.ipynb"
    run("-m", "weft", "notebook", "examples/digits_cnn.ipynb", "--output", str(target))
    cells = json.loads(target.read_text())["cells"]
    assert number(r"Test accuracy: ([0-9.]+)", cells[-1]["outputs"][0]["text"]) > 0.9


# ---- one wrong line ------------------------------------------------------------------------------

# Example, a line of it, what is written there instead; the line that is told (the program's last
# frame, or the one that made a node), and a part of the message.
WRONG = [
    (
        "digits_cnn", 'dense(net, 10, name="logits")', 'dense(net, 10, activaton=1, name="logits")',
        "logits = tf.layers.dense", "dense() got an unexpected keyword argument 'activaton'",
    ),
    (
        "char_rnn", "cell.zero_state(tf.shape(inputs)[0], tf.float32)",
        "cell.zero_state(7, tf.float32)",
        "outputs, state = tf.nn.dynamic_rnn", "shape[0] = [16,27] vs. shape[1] = [7,96]",
    ),
    (
        "fine_tuning", '{"body/": "body/"}', '{"bodi/": "body/"}',
        "tf.train.init_from_checkpoint", "Did you mean 'body/conv1/bias'",
    ),
    (
        "keras_digits", "sparse_categorical_crossentropy", "sparse_categorical_crosentropy",
        "model.compile(", "Did you mean 'sparse_categorical_crossentropy'",
    ),
    (
        "estimator_columns", 'numeric_column("rain")', 'numeric_column("rainn")',
        "scores, _ = tf.estimator.train_and_evaluate", "Feature rainn is not in features",
    ),
    (
        "gan", "run(train_discriminator, {real: batch})", "run(train_discriminator)",
        "session.run(train_discriminator)", "You must feed a value for placeholder tensor 'real'",
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "line", "instead", "told", "message"), WRONG)
def test_one_wrong_line_is_told(
    name: str, line: str, instead: str, told: str, message: str, tmp_path: Path
) -> None:
    text = (EXAMPLES / f"{name}.py").read_text()
    assert line in text
    (tmp_path / f"{name}.py").write_text(text.replace(line, instead, 1))
    shutil.copy(EXAMPLES / "digits.py", tmp_path)
    shutil.copytree(EXAMPLES / "data", tmp_path / "data")
    command = [sys.executable, str(tmp_path / f"{name}.py"), *SHORT[name][0]]
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert message in done.stderr
    assert told in done.stderr
    # The program's frames, and one of weft.
    frames = re.findall(r'^  File "([^"]+)"', done.stderr.partition("Original stack")[0], re.M)
    assert sum(str(EXAMPLES.parent / "weft") in frame for frame in frames) <= 1
