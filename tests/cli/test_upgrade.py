"""`weft upgrade` on small programs in the style of 2016."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.commands import upgrade as command
from weft.cli.main import main
from weft.legacy.upgrading.program import upgrade

ROOT = Path(__file__).parents[2]


def upgraded(folder: Path, text: str) -> str:
    path = folder / "program.py"
    path.write_text(text)
    (found,) = upgrade(path)
    return found.after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import tensorflow as tf", "import weft as tf"),
        ("import os, tensorflow as tf  # TF", "import os, weft as tf  # TF"),
        ("import tensorflow", "import weft as tensorflow"),
        ("import tensorflow.compat.v1 as tf", "import weft as tf"),
        ("from tensorflow import keras", "from weft import keras"),
        ("from tensorflow.contrib import slim", "from weft.contrib import slim"),
        ("from tensorflow.contrib import slim, nope", "from weft.contrib import slim, nope"),
        ("import tensorflow.contrib.slim as slim", "import weft.contrib.slim as slim"),
        ("import tensorflow.contrib.slim", "import weft.contrib.slim, weft as tensorflow"),
        ("from tensorflow.python.ops import rnn_cell", "from weft.python.ops import rnn_cell"),
        (
            "from tensorflow.examples.tutorials.mnist import input_data",
            "from weft.examples.tutorials.mnist import input_data",
        ),
        (
            "from tensorflow.contrib.layers.python.layers import (\n    utils,  # why\n)",
            "from weft.legacy.tensorflow.contrib.layers.python.layers import (\n"
            "    utils,  # why\n)",
        ),
        (
            "from tensorflow.core.framework import graph_pb2",
            "from weft.legacy.tensorflow.core.framework import graph_pb2",
        ),
        ("from tensorflow_hub import x; import tensorflowish", None),
        ("x = 'import tensorflow as tf'  # import tensorflow", None),
        ("import tensorflow as tf\ny = tf.mul(a,  b)", "import weft as tf\ny = tf.multiply(a,  b)"),
        (
            "import tensorflow as tf\ntf.train.SummaryWriter(d)",
            "import weft as tf\ntf.summary.FileWriter(d)",
        ),
        (
            '"""Doc."""\nfrom __future__ import division\nimport tensorflow as tf\n'
            "tf.contrib.layers.python.layers.utils",
            '"""Doc."""\nfrom __future__ import division\n'
            "import weft.legacy.tensorflow as legacy_tensorflow\nimport weft as tf\n"
            "legacy_tensorflow.contrib.layers.python.layers.utils",
        ),
    ],
)
def test_tensorflow_becomes_weft(before: str, after: str | None, tmp_path: Path) -> None:
    assert upgraded(tmp_path, before) == (before if after is None else after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import numpy as np\nnp.float, np.Inf", "import numpy as np\nfloat, np.inf"),
        ("import cPickle as pickle\n", "import pickle as pickle\n"),
        ("from itertools import izip, chain", "from itertools import chain; "
         "from builtins import zip as izip"),
        ("import collections\ncollections.Mapping",
         "import collections.abc\nimport collections\ncollections.abc.Mapping"),
        ("import time\nt = time.clock()  # s", "import time\nt = time.perf_counter()  # s"),
        ("try:\n    import cPickle\nexcept ImportError:\n    import pickle", None),
        ("import threading\nthreading.Thread().isAlive()",
         "import threading\nthreading.Thread().is_alive()"),
        ("open(a, 'rU')", "open(a, 'r')"),
        ("from string import lower, digits", "from string import digits; lower = str.lower"),
        ("from types import *\nx is ListType",
         "from types import *; from builtins import list as ListType\nx is ListType"),
        ("import six\nxrange(3), reduce(f, a)",
         "import functools\nimport six\nrange(3), functools.reduce(f, a)"),
        ("import six\ntry:\n    t = unicode\nexcept NameError:\n    t = str\n", None),
    ],
)  # fmt: skip
def test_old_names_become_todays(before: str, after: str | None, tmp_path: Path) -> None:
    assert upgraded(tmp_path, before) == (before if after is None else after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.concat(0, [a, b])", "old_tensorflow.concat(0, [a, b])"),
        ("tf.concat([a, b], 0)", None),
        ("tf.concat(concat_dim=0, values=a)", "old_tensorflow.concat(concat_dim=0, values=a)"),
        ("tf.concat(values=a, axis=0)", None),
        ("tf.split(1, 2, a)", "old_tensorflow.split(1, 2, a)"),
        ("tf.split(a, 2, 1)", None),
        ("tf.batch_matmul(a, b)", "old_tensorflow.batch_matmul(a, b)"),
        ("tf.nn.softmax_cross_entropy_with_logits(a, b)",
         "old_tensorflow.softmax_cross_entropy_with_logits(a, b)"),
        ("tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b)", None),
        ("tf.nn.nce_loss(w, b, x, y, 5, 9)", "old_tensorflow.nce_loss(w, b, x, y, 5, 9)"),
        ("tf.nn.nce_loss(weights=w, labels=y)", None),
        ("tf.histogram_summary('a', x)", "tf.contrib.deprecated.histogram_summary('a', x)"),
    ],
)  # fmt: skip
def test_arguments_before_1_0(before: str, after: str | None, tmp_path: Path) -> None:
    needed = "import weft.legacy.old.tensorflow_behaviour as old_tensorflow\n"
    new = before if after is None else after
    new = f"{needed if 'old_tensorflow' in new else ''}import weft as tf\n{new}"
    assert upgraded(tmp_path, f"import tensorflow as tf\n{before}") == new


def test_modules_before_1_0(tmp_path: Path) -> None:
    before = "from tensorflow.models.rnn import rnn_cell, seq2seq\n"
    assert upgraded(tmp_path, before) == (
        "import weft.nn.rnn_cell as rnn_cell; import weft.contrib.legacy_seq2seq as seq2seq\n"
    )


def test_python_2_becomes_3(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\n"
        "d = {'a': 5}\n"
        "for k, v in d.iteritems():  # each\n"
        "    print k, v / 2, 0777\n"
        "with tf.Session() as s:\n"
        "    print s.run(tf.mul(2, 3))\n"
    )
    assert main(["upgrade", str(program), "--write"]) == 0
    text = program.read_text()
    assert "for k, v in d.items():  # each\n" in text
    assert run(program) == "a 2 511\n6\n"


def test_python_2_takes_text_where_python_3_wants_bytes(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import cPickle, hashlib, os, pickle as p\n"
        "path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'values')\n"
        "with open(path, 'w') as f:\n"
        "    cPickle.dump([1], f)\n"
        "print p.load(open(path)), cPickle.load(open(path, 'rb')), cPickle.HIGHEST_PROTOCOL > 1\n"
        "print hashlib.md5('text').hexdigest()[:4]\n"
    )
    assert main(["upgrade", str(program), "--write"]) == 0
    assert run(program) == "[1] [1] True\n1cb2\n"


def test_methods_that_python_2_had(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "class Deck(object):\n"
        "    def next(self): return 'card'\n"
        "def numbers():\n"
        "    yield 7\n"
        "print numbers().next(), Deck().next(), 'text'.decode('utf-8'), b'a'.decode('ascii')\n"
        "try:\n"
        "    raise ValueError('wrong')\n"
        "except ValueError as e:\n"
        "    print e.message, {1: 2}.has_key(1)\n"
    )
    assert main(["upgrade", str(program), "--write"]) == 0
    assert run(program) == "7 card text a\nwrong True\n"


def test_files_of_a_python_2_program_are_python_2(tmp_path: Path) -> None:
    """A file that shows nothing of it divides as the one that imports it."""
    (tmp_path / "helper.py").write_text("def half(x):\n    return x / 2\n")
    (tmp_path / "other.py").write_text("x = 1 / 2\n")
    program = tmp_path / "main.py"
    program.write_text("import helper\nprint helper.half(5)\n")
    assert main(["upgrade", str(tmp_path), "--write"]) == 0
    assert run(program) == "2\n"
    assert (tmp_path / "other.py").read_text() == "x = 1 / 2\n"


def test_files_that_are_imported_whole_are_part_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def half(x):\n    return x / 2\n")
    (tmp_path / "other.py").write_text("def third(x):\n    return x / 3\n")
    program = tmp_path / "main.py"
    program.write_text("from helper import *\nfrom other import (third)\nprint half(5), third(5)\n")
    assert main(["upgrade", str(tmp_path), "--write"]) == 0
    assert run(program) == "2 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import ops", "from . import ops"),
        ("import ops as o  # why", "from . import ops as o  # why"),
        ("import os, ops", "import os; from . import ops"),
        ("import below.deep as d", "from .below import deep as d"),
        ("import below.deep", "from .below import deep as _below_deep; from . import below"),
        ("from ops import (a,\n    b)", "from .ops import (a,\n    b)"),
        ("from below.deep import c", "from .below.deep import c"),
        ("from . import ops\nfrom .ops import a\nimport numpy, opsis", None),
        ("import ops\nif __name__ == '__main__': x()",
         "if __package__:\n    from . import ops\nelse:\n    import ops\n"
         "if __name__ == '__main__': x()"),
    ],
)  # fmt: skip
def test_neighbours_in_a_package(before: str, after: str | None, tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "__init__.py").write_text("")
    (tmp_path / "__init__.py").write_text("")
    found = upgraded(tmp_path, f"{before}\nx <> 1\n")
    assert found == f"{before if after is None else after}\nx != 1\n"


def test_absolute_imports_stay(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text("")
    (tmp_path / "__init__.py").write_text("")
    text = "from __future__ import absolute_import\nimport ops\nx %s 1\n"
    assert upgraded(tmp_path, text % "<>") == text % "!="


def test_a_package_of_python_2_runs_both_ways(tmp_path: Path) -> None:
    package = tmp_path / "net"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ops.py").write_text("name = 'ops'\n")
    (package / "model.py").write_text(
        "import ops\nprint ops.name, ops.__name__\nif __name__ == '__main__':\n    print 'run'\n"
    )
    program = tmp_path / "main.py"
    program.write_text("from net import model\n")
    assert main(["upgrade", str(tmp_path), "--write"]) == 0
    assert run(program) == "ops net.ops\n"
    assert run(package / "model.py") == "ops ops\nrun\n"
    assert (package / "__init__.py").read_bytes() == b""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = np.frombuffer(b)\nf.read(n)", "n = np.frombuffer(b)\nf.read(n.item())"),
        ("n = np.frombuffer(b)\nf.read(n * 2)", "n = np.frombuffer(b)\nf.read((n * 2).item())"),
        ("def g():\n    return np.fromfile(b)\nn = g()\nint(n)",
         "def g():\n    return np.fromfile(b)\nn = g()\nint(n.item())"),
        ("np.fromstring(b, 'u1')[0]", "np.frombuffer(b, 'u1').copy()[0]"),
        ("np.fromstring('1 2', sep=' ')", None),
        ("x[: 2 * np.floor(y)]", "x[: int(2 * np.floor(y))]"),
        ("n = np.arange(1)\nx.reshape(n, 1)", "n = np.arange(1)\nx.reshape(n.item(), 1)"),
        ("n = np.arange(1)\nnp.zeros((n, 1))", "n = np.arange(1)\nnp.zeros((n.item(), 1))"),
        ("n = np.arange(2)\nx.reshape(n)", None),  # a shape
        ("n = np.arange(1)\n'%d %s' % (n, n)", "n = np.arange(1)\n'%d %s' % (n.item(), n)"),
        ("n = np.arange(1)\n'%5.2f%%' % n", "n = np.arange(1)\n'%5.2f%%' % n.item()"),
        ("n = np.arange(9)\nint(n[3])", None),
        ("n = np.arange(9)\nint(n[3:4])", "n = np.arange(9)\nint(n[3:4].item())"),
        ("n = np.arange(9)\nn = 3\nint(n)", None),
        ("def g(n):\n    return int(n)\nn = np.arange(1)", None),
        ("for n in np.arange(9):\n    int(n)", None),
    ],
)  # fmt: skip
def test_arrays_of_one_element(before: str, after: str | None, tmp_path: Path) -> None:
    found = upgraded(tmp_path, f"import numpy as np\n{before}")
    assert found == f"import numpy as np\n{before if after is None else after}"


def test_a_reader_of_numbers_runs(tmp_path: Path) -> None:
    """As readers of the MNIST files were written."""
    program = tmp_path / "program.py"
    program.write_text(
        "import io, numpy\n"
        "def read32(stream):\n"
        "    dt = numpy.dtype(numpy.uint32).newbyteorder('>')\n"
        "    return numpy.frombuffer(stream.read(4), dtype=dt)\n"
        "def images(stream):\n"
        "    count, rows = read32(stream), 2\n"
        "    magic = read32(stream)\n"
        "    if magic != 7:\n"
        "        raise ValueError('magic %d in %s' % (magic, stream))\n"
        "    number = read32(stream)\n"
        "    data = numpy.frombuffer(stream.read(number * rows), numpy.uint8)\n"
        "    return data.reshape(number, rows)\n"
        "word = '\\0\\0\\0'.encode('ascii')\n"
        "stream = io.BytesIO(word + b'\\1' + word + b'\\7' + word + b'\\2' + b'abcd')\n"
        "print images(stream).tolist()\n"
    )
    assert main(["upgrade", str(program), "--write"]) == 0
    assert run(program) == "[[97, 98], [99, 100]]\n"


@pytest.mark.parametrize("text", ["print 1", "print 1\r\nx = 1\r\n", "x = 1\r\nprint 1"])
def test_ends_of_lines_stay(text: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_bytes(text.encode())
    (found,) = upgrade(program)
    (_, _, after) = found.data.decode().partition("\n")
    assert after == text.replace("print 1", "__weft_python2__.print_(1)")
    assert found.data.count(b"\n") == found.data.count(b"\r\n") or b"\r" not in text.encode()


def run(program: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_upgraded_program_runs_on_plain_python(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import tensorflow as tf\n"
        "from tensorflow.contrib import slim\n"
        "from tensorflow.contrib.layers.python.layers import utils\n"
        "from tensorflow.core.framework import graph_pb2\n"
        "from tensorflow.python.ops import array_ops\n"
        "import tensorflow.contrib.slim.nets\n"
        "assert tf.contrib.layers.python.layers.utils.smart_cond is utils.smart_cond\n"
        "assert graph_pb2.GraphDef is tf.GraphDef and slim.conv2d\n"
        "assert tensorflow.shape is array_ops.shape is tf.shape\n"
        "with tf.Session() as session:\n"
        "    print(session.run(tf.sub(tf.mul(2, 3), 1)))\n"
    )
    assert main(["upgrade", str(program), "--output", str(tmp_path / "new")]) == 0
    assert run(tmp_path / "new" / "program.py") == "5\n"


def test_a_diff_and_nothing_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.py"
    program.write_bytes(b"import tensorflow as tf\r\nx = 1")
    assert main(["upgrade", str(program)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"--- {program}\n+++ {program}\n@@ ")
    assert "-import tensorflow as tf\r\n+import weft as tf\r\n x = 1\n\\ No newline" in shown
    assert program.read_bytes() == b"import tensorflow as tf\r\nx = 1"


def test_writing_in_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, other = tmp_path / "p.py", tmp_path / "q.py"
    program.write_bytes(b"# -*- coding: latin1 -*-\r\nimport tensorflow as tf  # \xe9\r\n")
    program.chmod(0o751)
    other.write_text("x = 1\n")
    before = other.stat().st_mtime_ns
    assert main(["upgrade", str(tmp_path), "--write"]) == 0
    assert program.read_bytes() == b"# -*- coding: latin1 -*-\r\nimport weft as tf  # \xe9\r\n"
    assert stat.S_IMODE(program.stat().st_mode) == 0o751
    assert other.stat().st_mtime_ns == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["p.py", "q.py"]


def test_a_write_that_fails_leaves_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "p.py"
    program.write_text("import tensorflow as tf\n")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device", str(program))

    monkeypatch.setattr(command.os, "replace", fail)
    assert main(["upgrade", str(program), "--write"]) == 1
    assert program.read_text() == "import tensorflow as tf\n"
    assert [each.name for each in tmp_path.iterdir()] == ["p.py"]


def test_what_is_left_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "p.py"
    program.write_text("import tensorflow as tf\ntf.nope\n")
    assert main(["upgrade", str(program)]) == 1
    assert f"{program}:2:4: tensorflow.nope is not in weft" in capsys.readouterr().err
    assert main(["upgrade", str(tmp_path / "nothing")]) == 2


def test_notebooks(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import tensorflow as tf"]},
        {"cell_type": "markdown", "source": ["import tensorflow as tf"]},
        {"cell_type": "code", "source": "!ls\nfrom tensorflow.contrib import slim\ntf.mul(1, 2)"},
    ]
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    assert main(["upgrade", str(path), "--write"]) == 0
    written = [each["source"] for each in json.loads(path.read_text())["cells"]]
    assert written == [
        ["%matplotlib inline\n", "import weft as tf"],
        ["import tensorflow as tf"],
        "!ls\nfrom weft.contrib import slim\ntf.multiply(1, 2)",
    ]
