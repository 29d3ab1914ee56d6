"""`weft check` on small programs in the style of 2016."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weft.cli.main import main
from weft.legacy.checking.program import check

FINE = """\
import tensorflow as tf
from tensorflow.contrib import slim
from tensorflow.examples.tutorials.mnist import input_data
from tensorflow.python.ops import math_ops

rnn_cell = tf.nn.rnn_cell
flags = tf.app.flags
flags.DEFINE_string("data_dir", "/nowhere/data", "where the data are")
FLAGS = flags.FLAGS
print(FLAGS.anything, rnn_cell.BasicLSTMCell, math_ops.reduce_sum, slim.conv2d)
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def lacking(folder: Path, text: str) -> list[tuple[str, int, int]]:
    report = check(write(folder, "program.py", text))
    return [(each.name, each.line, each.column) for each in report.of("lacking")]


def test_a_program_that_runs_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "train.py", FINE)
    assert main(["check", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "1 file, Python 3" in shown
    assert "Verdict: runs as it is" in shown
    assert "/nowhere/data: not there" in shown
    assert f"weft run {path}" in shown


def test_a_package_whose_files_import_one_another_by_name(tmp_path: Path) -> None:
    """Only Python 2 finds them, unless the program says where to look."""
    path = write(tmp_path, "train.py", "from net.core import x\n")
    write(tmp_path, "net/__init__.py", "")
    write(tmp_path, "net/memory.py", "size = 1\n")
    write(tmp_path, "net/core.py", "from memory import size\nx = size / 2\n")
    assert {each.path.name for each in check(tmp_path).python2} >= {"train.py", "core.py"}
    path.write_text("import sys\nsys.path.append('net')\nfrom net.core import x\n")
    assert not check(tmp_path).python2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import tensorflow as tf\ntf.nn.nope(1)\n", [("nn.nope", 2, 7)]),
        ("import tensorflow\ntensorflow.nope\n", [("nope", 2, 12)]),
        ("import tensorflow as tf\nx = tf.nope.more.of_it()\n", [("nope", 2, 8)]),
        ("import tensorflow.compat.v1 as tf\ntf.nope\n", [("compat.v1.nope", 2, 4)]),
        ("from tensorflow.contrib import slim, nope\n", [("contrib.nope", 1, 38)]),
        ("from tensorflow.contrib.nope import x, y\n", [("contrib.nope", 1, 6)]),
        ("import tensorflow.nope as n\nn.x\n", [("nope", 1, 8)]),
        ("from tensorflow.python.ops import math_ops as m\nm.nope(2)\n",
         [("python.ops.math_ops.nope", 2, 3)]),
        ("import tensorflow as tf\nlayers = tf.contrib.layers\nlayers.nope\n",
         [("contrib.layers.nope", 3, 8)]),
        ("import tensorflow as tf\nf(tf.nn\n  .nope)\n", [("nn.nope", 3, 4)]),
        # Not names of modules: a variable of a function's own, a string, a comment, a target.
        ("from tensorflow.contrib import layers\ndef f(layers):\n    layers.nope\n", []),
        ("import tensorflow as tf\n'tf.nope'  # tf.nope\ntf.nope = 1\n", []),
        ("import tensorflow as tf\nself.tf.nope\n", []),
        ("from tensorflow.contrib.layers.python.layers import utils\nutils.smart_cond\n", []),
        ("import tensorflow as tf\ntf.logging._logger\ntf.nn.rnn_cell._linear\n", []),
        # Expected by the program itself.
        ("try:\n  from tensorflow import nope\nexcept ImportError:\n  nope = None\nnope.x\n", []),
        ("import tensorflow as tf\nif tf.__version__ > '2':\n  tf.nope\nelse:\n  tf.nope\n", []),
        ("try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n"
         "  import tensorflow.nope as tf\n", []),
        ("try:\n  from tensorflow import nope\nexcept ImportError:\n"
         "  from tensorflow import none\n",
         [("none", 4, 26)]),
    ],
)  # fmt: skip
def test_names_that_weft_lacks(
    text: str, found: list[tuple[str, int, int]], tmp_path: Path
) -> None:
    assert lacking(tmp_path, text) == [(f"tensorflow.{n}", line, col) for n, line, col in found]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("reduce_summ", "tensorflow.reduce_sum"),
        ("nn.AdamOptimizer", "tensorflow.train.AdamOptimizer"),
    ],
)
def test_suggestions(name: str, meant: str, tmp_path: Path) -> None:
    report = check(write(tmp_path, "p.py", f"import tensorflow as tf\ntf.{name}\n"))
    assert [each.advice for each in report.findings] == [f"perhaps {meant}"]
    assert report.verdict == "lacks 1 name"


@pytest.mark.parametrize(
    ("text", "python", "found"),
    [
        ("for i in xrange(3): pass\n", 2, []),
        ("import os\nPY2 = False\nxrange(3), os.xrange\n", 3, [("xrange", 3)]),
        ("PY2 = False\ntry:\n  unicode\nexcept NameError:\n  pass\n", 3, []),
    ],
)
def test_built_in_names_of_python_2(
    text: str, python: int, found: list[tuple[str, int]], tmp_path: Path
) -> None:
    report = check(write(tmp_path, "p.py", text))
    assert [source.python for source in report.sources] == [python]
    assert [(each.name, each.line) for each in report.of("old")] == found


def test_names_before_1_0(tmp_path: Path) -> None:
    text = "import tensorflow as tf\ntf.mul\ntf.train.SummaryWriter\n"
    text += "from tensorflow.models.rnn import rnn_cell\n"
    report = check(write(tmp_path, "p.py", text))
    assert [(each.name, each.advice) for each in report.of("old")] == [
        ("tensorflow.models.rnn", "gone since TensorFlow 1.0; a stand-in is used"),
        ("tensorflow.mul", "gone since TensorFlow 1.0; tf.multiply is used"),
        (
            "tensorflow.train.SummaryWriter",
            "gone since TensorFlow 1.0; tf.summary.FileWriter is used",
        ),
    ]
    assert report.verdict == "runs with translation"


def test_lacking_names_end_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "p.py", "import tensorflow as tf\ntf.nope\ntf.nope\n")
    assert main(["check", str(path)]) == 1
    shown = capsys.readouterr().out
    assert f"tensorflow.nope\n    {path}:2:4\n    {path}:3:4\n" in shown
    assert "Verdict: lacks 1 name" in shown


@pytest.mark.parametrize("arguments", [["/nowhere/at/all"], []])
def test_usage_ends_with_2(arguments: list[str], tmp_path: Path) -> None:
    try:
        code = main(["check", *(arguments or [str(tmp_path)])])
    except SystemExit as error:
        code = int(str(error.code))
    assert code == 2


def test_packages(tmp_path: Path) -> None:
    write(tmp_path, "project/helpers.py", "")
    write(tmp_path, "project/nets/vgg.py", "")
    report = check(
        write(
            tmp_path,
            "project/train.py",
            "import os, numpy\nimport helpers\nfrom nets import vgg\nimport no_such_thing.x\n"
            "import prettytensor\nfrom . import y\n"
            "try:\n  import maybe\nexcept ImportError: pass\n",
        )
    )
    status = {each.name: each.status for each in report.packages}
    assert status == {
        "os": "standard",
        "numpy": "installed",
        "helpers": "own",
        "nets": "own",
        "no_such_thing": "missing",
        "prettytensor": "gone",
        "maybe": "missing",
    }
    assert [each.name for each in report.missing_packages] == ["no_such_thing", "prettytensor"]
    assert report.verdict == "lacks 2 packages"


def test_a_folder_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "a.py", FINE)
    write(tmp_path, "b/c.py", "import tensorflow as tf\ntf.nope\n")
    write(tmp_path, ".hidden/d.py", "import tensorflow as tf\ntf.nope\n")
    write(tmp_path, "venv/pyvenv.cfg", "")
    write(tmp_path, "venv/e.py", "import tensorflow as tf\ntf.nope\n")
    assert main(["check", "--json", str(tmp_path)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [Path(each["file"]).name for each in report["files"]] == ["a.py", "c.py"]
    assert not report["fine"]
    (finding,) = report["findings"]
    assert (finding["name"], finding["line"], finding["column"]) == ("tensorflow.nope", 2, 4)
    assert report["data"][0]["flag"] == "data_dir"
    assert report["next"]


def test_a_notebook(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "source": ["# tf.nope"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import tensorflow as tf\n"]},
        {"cell_type": "code", "source": ["%%bash\n", "tf.nope (not Python)"]},
        {"cell_type": "code", "source": "x = !ls\ny = tf.nope\nx?"},
        {"cell_type": "code", "source": "  for i in x:\n    i\n\n  y\ntf.none"},
    ]
    path = write(tmp_path, "n.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
    report = check(path)
    places = [f"{path}:cell 3:2:8", f"{path}:cell 4:5:4"]
    assert [each.where for each in report.findings] == places
    assert report.sources[0].error is None
    assert check(write(tmp_path, "bad.ipynb", "{}")).verdict == "has 1 file that cannot be read"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    report = check(write(tmp_path, "p.py", "import tensorflow as tf\n\nx = (1,,)\n"))
    assert report.verdict == "has 1 file that cannot be read"
    (finding,) = report.of("syntax")
    assert (finding.name, finding.line) == ("invalid syntax", 3)


def test_python_2_is_read(tmp_path: Path) -> None:
    text = "import tensorflow as tf\nprint tf.nope, 0777\nexcept_ = 1\n"
    report = check(write(tmp_path, "p.py", text))
    assert [source.python for source in report.sources] == [2]
    assert [(each.line, each.column) for each in report.of("lacking")] == [(2, 10)]


def test_the_programs_own_tree(tmp_path: Path) -> None:
    write(tmp_path, "tensorflow/examples/speech_commands/models.py", "")
    path = write(
        tmp_path,
        "tensorflow/examples/speech_commands/train.py",
        "from tensorflow.examples.speech_commands import models\nmodels.create()\n",
    )
    assert check(path).verdict == "runs as it is"


def test_what_others_wrote_is_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'import tensorflow as tf\nopen("/data/[red]\\x1b[31m.txt")\n'
    main(["check", str(write(tmp_path, "p.py", text))])
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "/data/[red]\\x1b[31m.txt" in shown


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("open('data/train.csv')", ["data/train.csv"]),
        ("saver.restore(s, 'model.ckpt-1000')", ["model.ckpt-1000"]),
        ("np.load('~/vgg16.npy')", ["~/vgg16.npy"]),
        ("tf.device('/gpu:0')", []),
        ("tf.device('/job:ps/task:0')", []),
        ("get('conv1/weights')", []),
        ("get('http://host/data.zip')", []),
        ("'%s/train.csv' % folder", []),
        ("parser.add_argument('--data_path', type=str, default='flowers')", ["flowers"]),
        ("parser.add_argument('--name', default='flowers', help='/a/b')", []),
        ("flags.DEFINE_string('train_dir', 'run1', '/tmp/x')", ["run1"]),
    ],
)
def test_data(line: str, found: list[str], tmp_path: Path) -> None:
    report = check(write(tmp_path, "p.py", f"{line}\n"))
    assert [datum.path for _, datum in report.data] == found


def test_data_that_is_there(tmp_path: Path) -> None:
    write(tmp_path, "model.ckpt.index", "")
    report = check(write(tmp_path, "p.py", "restore('model.ckpt'); restore('other.ckpt')\n"))
    assert [datum.exists for _, datum in report.data] == [True, False]


def test_old_names(tmp_path: Path) -> None:
    text = "import numpy as np\nimport cPickle\nprint np.float, np.float32\nd.iteritems()\n"
    report = check(write(tmp_path, "p.py", text))
    found = [(each.name, each.line) for each in report.of("old")]
    assert found == [("cPickle", 2), ("numpy.float", 3), ("builtins.dict.iteritems", 4)]
    assert report.verdict == "runs with translation"
