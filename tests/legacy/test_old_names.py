"""The table of old names: every row gives its substitute, and only to the user's code."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import pickle
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import flags, sources
from weft.legacy.old import loading, lookup, notices, table, users_code

# Those of TensorFlow's have tests of their own.
ROWS = [row for row in table.ROWS if not row.old.startswith("tensorflow.")]
MODULE_ROWS = [row for row in ROWS if row.kind == "module"]
NAME_ROWS = [row for row in ROWS if row.kind == "name"]
MEMBER_ROWS = [row for row in ROWS if row.kind in ("method", "property")]
CHANGED_ROWS = [row for row in ROWS if row.kind == "changed"]


def run(folder: Path, source: str) -> dict[str, Any]:
    """What a program of the user's leaves in its name space."""
    path = folder / "train.py"
    path.write_text(source)
    space: dict[str, Any] = {"__name__": "train"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of modules that go in the next version of Python
        exec(loading.compile_users(path.read_bytes(), str(path)), space)
    return space


def has(module: str) -> bool:
    root = module.partition(".")[0]
    return importlib.util.find_spec(root) is not None


def needs(place: str) -> None:
    if not has(place):
        pytest.skip(f"{place.partition('.')[0]} is not installed")


def identify(row: table.Row) -> str:
    return row.old


@pytest.mark.parametrize("row", NAME_ROWS, ids=identify)
def test_a_name_of_a_module(row: table.Row, tmp_path: Path) -> None:
    needs(row.holder)
    needs(row.substitute)
    if row.holder in table.MODULES and not has(row.holder):
        pytest.skip("its module is gone, too")
    source = f"import {row.holder} as m\nfound = m.{row.name}\nfrom {row.holder} import {row.name}"
    space = run(tmp_path, source)
    module = importlib.import_module(row.holder)
    expected = vars(module)[row.name] if row.name in vars(module) else row.value()
    assert space["found"] is expected
    assert space[row.name] is expected


@pytest.mark.parametrize("row", MODULE_ROWS, ids=identify)
def test_a_module(row: table.Row, tmp_path: Path) -> None:
    if row.substitute.startswith("pip "):
        with pytest.raises(ModuleNotFoundError, match=r"`pip install .*` brings it back"):
            lookup._module_of(row)
        return
    needs(row.substitute or row.old)
    if "." in row.old and row.old.partition(".")[0] not in table.MODULES:
        needs(row.old)
    found = run(tmp_path, f"import {row.old} as m\nimport {row.old}")["m"]
    assert isinstance(found, ModuleType)
    assert isinstance(lookup._module_of(row), ModuleType)


@pytest.mark.parametrize("row", MEMBER_ROWS, ids=identify)
def test_a_member_of_a_class(row: table.Row) -> None:
    module, _, _ = row.holder.rpartition(".")
    needs(module)
    importlib.import_module(module)
    kind = table.class_named(row.holder)
    assert isinstance(kind, type), "no such class"
    assert callable(row.value())
    if not hasattr(kind, row.name) and row.kind == "method":
        assert getattr(lookup.having(kind, row.name), row.name) is row.value()


@pytest.mark.parametrize("row", CHANGED_ROWS, ids=identify)
def test_a_changed_name(row: table.Row, tmp_path: Path) -> None:
    needs(row.holder)
    found = run(tmp_path, f"import {row.holder} as m\nfound = m.{row.name}")["found"]
    assert found is row.value()
    with flags.STRICT.override(True):
        module = importlib.import_module(row.holder)
        assert lookup.having(module, row.name) is module


# Expressions of old programs (after `import numpy as np` and the like), and their values.
PREPARE = """
import array, base64, collections, fractions, hashlib, inspect, io, itertools, json, math, os
import pickle, platform, random, re, string, sys, threading, time, types, unittest, urllib
import xml.etree.ElementTree as ET
import numpy as np
from PIL import Image
def function(a, b=1, *c, **d): "text"
class Case(unittest.TestCase):
    def method(self): pass
case = Case("method")
def executed(text):
    space = {}
    exec(text, space)
    return space["x"]
def walked():
    seen = []
    os.path.walk(FOLDER, lambda a, folder, names: a.append(len(names)), seen)
    return seen
"""
VALUES: list[tuple[str, Any]] = [
    ("np.arange(4).reshape(np.array([2]), 2).shape", (2, 2)),
    ("(lambda f: (np.save(f, [[1], [1, 2]]), f.tell() > 0)[1])(io.BytesIO())", True),
    (
        "np.arange(2) != [], np.arange(2) == [1, 2, 3], [] == [], 1 == []",
        (True, False, True, False),
    ),
    ("(np.arange(2) == [0, 3]).tolist()", [True, False]),
    ("io.BytesIO(b'abc').read(np.array([2]))", b"ab"),
    ("re.split(r'(\\W+)?', 'Mary went.')", ["Mary", " ", "went", ".", ""]),
    ("re.split('x*', 'axbxc', 1), re.split('x', 'axb')", (["a", "bxc"], ["a", "b"])),
    ("np.float(3) + np.int(2)", 5.0),
    ("np.bool is bool, np.str is str, np.object is object", (True, True, True)),
    ("np.zeros(2, np.float).dtype.name", "float64"),
    ("np.array([[1], [1, 2]]).dtype == object", True),
    ("np.array([np.zeros((2, 3)), np.zeros((2, 4))]).shape", (2,)),
    ("np.asarray([[1], [1, 2]]).tolist()", [[1], [1, 2]]),
    ("np.copy([[1], [1, 2]]).tolist(), np.shape([[1], [1, 2]])", ([[1], [1, 2]], (2,))),
    ("np.concatenate([[[1], [1, 2]], [[3], [4, 5], []]]).shape", (5,)),
    ("np.append([[1], [1, 2]], [[7]]).tolist()", [[1], [1, 2], 7]),
    ("sorted(np.random.permutation([[1], [1, 2]]))", [[1], [1, 2]]),
    ("len(np.random.choice([[1], [1, 2]], 3))", 3),
    ("np.max([[1], [1, 2]]), np.sum([[1], [1, 2]])", ([1, 2], [1, 1, 2])),
    ("np.reshape([[1], [1, 2]], (2, 1)).shape", (2, 1)),
    ("np.array_equal([[1], [1, 2]], [[1], [1, 2]])", True),
    ("np.argsort([[4], [1, 2]]).tolist(), np.where([0, 1], [[1], [2, 3]], 0)[1]", ([1, 0], [2, 3])),
    ("np.array([1, 2], copy=False).tolist()", [1, 2]),
    ("np.array([1, 2], 'f', False).dtype.name", "float32"),
    ("np.array([1, 200, -1], np.int8).tolist()", [1, -56, -1]),
    ("np.zeros(1, np.uint8).tostring()", b"\0"),
    ("np.matrix([[1]], np.uint8).tostring()", b"\1"),
    ("np.float32(0).tostring()", b"\0\0\0\0"),
    ("np.ones(1, '<i2').newbyteorder().tolist()", [256]),
    ("np.int16(1).newbyteorder('>').item() in (1, 256)", True),
    ("np.issubdtype(np.float32, np.float), np.issubdtype(np.int32, int)", (True, True)),
    ("np.issubdtype(np.int32, 'float'), np.issubdtype(np.uint8, np.int)", (False, False)),
    ("np.issubdtype(np.float32, np.float64), np.issubdtype('i4', np.integer)", (False, True)),
    ("np.arange(4).ptp()", 3),
    ("(lambda a: (a.itemset(1, 7), a.tolist())[1])(np.zeros((1, 2)))", [[0.0, 7.0]]),
    ("np.fromstring(b'\\x01\\x02', np.uint8).tolist()", [1, 2]),
    ("np.fromstring('1 2', sep=' ').tolist()", [1.0, 2.0]),
    ("np.min(1e-2, np.sqrt(0.2)), np.max(np.eye(2), axis=1).tolist()", (1e-2, [1.0, 1.0])),
    ("np.amax([1, 2], 0.5), np.amin([1, 2])", (2, 1)),
    ("float(np.array([1.5])), int(np.array([[2]]))", (1.5, 2)),
    ("np.uint32(7) * 0x991a7cdb & 0xffffffff", 7 * 0x991A7CDB % 2**32),
    ("(np.uint32(7) * 0x991a7cdb).dtype.name", "int64"),
    ("(1000 + np.int8(-1), np.uint8(1) - 256)", (999, -255)),
    ("(np.zeros(1, np.uint8) + 256).dtype.name", "uint16"),
    ("(np.ones(1, np.int16) * 30000).dtype.name", "int16"),
    ("(np.ones(1, np.int32) & 0xffffffff).dtype.name", "int64"),
    ("(np.ones(1, np.float32) * 256).dtype.name", "float32"),
    ("executed('import numpy; x = numpy.float(2)')", 2.0),
    ("eval(compile('1 + 2', '<text>', 'eval'))", 3),
    ("executed(compile('import numpy; x = numpy.float(2)', 'part.py', 'exec'))", 2.0),
    ("math.sqrt(np.array([4.0]))", 2.0),
    ("'%.1f %d' % (np.array([1.5]), 3)", "1.5 3"),
    ("'%s' % np.array([1.5])", "[1.5]"),
    ("np.sum(x for x in [1, 2])", 3),
    ("type(np.meshgrid([1], [2])), type(np.broadcast_arrays([1], [[2]]))", (list, list)),
    ("np.atleast_1d(3).tolist(), type(np.atleast_2d([1], [2]))", ([3], list)),
    ("np.vstack(map(np.ones, [2, 2])).shape", (2, 2)),
    ("np.histogram([0.0, 1.0], bins=2, normed=True)[0].tolist()", [1.0, 1.0]),
    (
        "np.product([2, 3]), np.alltrue([1, 0]), np.Inf, np.asscalar(np.array([3]))",
        (6, False, np.inf, 3),
    ),
    ("np.in1d([1, 5], [5]).tolist()", [False, True]),
    ("np.linspace(0, 1, 7 / 2).tolist(), len(np.logspace(0, 1, num=2.0))", ([0.0, 0.5, 1.0], 2)),
    ("np.testing.dec.slow(abs)(-1)", 1),
    ("np.cast['int32'](2.7)", 2),
    ("np.asfarray([1]).dtype.name", "float64"),
    ("np.find_common_type([np.float32], [np.int64]).name", "float32"),
    ("np.rank([[1]]), np.mat([[1]]).shape", (2, (1, 1))),
    ("getattr(np, 'float')", float),
    ("np.eye(3)[[slice(0, 1), slice(None)]].shape", (1, 3)),
    ("(lambda x, y: 1 if x == y else 2)(np.eye(3), ())", 2),
    ("(lambda x, y: 1 if not x != y else 2)(np.eye(3), [1, 2])", 2),
    ("(lambda x, y: 1 if x == y else 2)(np.zeros([0]), ())", 2),
    ("(lambda x, y: 1 if x is None or x == y else 2)((), ())", 1),
    ("(lambda x, at: x[at])(np.eye(3), [slice(2), None]).shape", (2, 1, 3)),
    ("np.eye(3)[[slice(0, 1)] * 2].shape, np.eye(3)[[..., 0]].shape", ((1, 1), (3,))),
    ("np.eye(3)[[0, 1]].shape", (2, 3)),
    ("isinstance({}, collections.Mapping)", True),
    ("inspect.getargspec(function)", (["a", "b"], "c", "d", (1,))),
    ("inspect.formatargspec(['a', 'b'], 'c', 'd', (1,))", "(a, b=1, *c, **d)"),
    ("fractions.gcd(4, 6)", 2),
    ("time.clock() > 0", True),
    ("base64.encodestring(b'a'), base64.decodestring(b'YQ==')", (b"YQ==\n", b"a")),
    ("len(platform.linux_distribution())", 3),
    ("threading.Thread().isAlive()", False),
    ("array.array('b', [1]).tostring()", b"\1"),
    ("len(ET.fromstring('<a><b/></a>').getchildren())", 1),
    ("case.assertEquals(1, 1), case.assertItemsEqual([1, 2], [2, 1])", (None, None)),
    ("case.assert_(True), case.assertRaisesRegexp", None),
    ("string.letters[:2], string.join(['a', 'b'], '-'), string.upper('a')", ("ab", "a-b", "A")),
    ("{1: 2}.has_key(1), list({1: 2}.iteritems()), next({1: 2}.itervalues())", (True, [(1, 2)], 2)),
    ("iter([4]).next()", 4),
    ("'text'.decode('utf-8')", "text"),
    ("ValueError('why').message", "why"),
    ("function.func_name, function.func_doc", ("function", "text")),
    ("case.method.im_self is case, case.method.im_func is Case.method", (True, True)),
    ("list(itertools.izip([1], [2])), list(itertools.imap(abs, [-1]))", ([(1, 2)], [1])),
    ("sys.maxint > 2**31", True),
    ("urllib.quote('a b'), urllib.urlencode({'a': 1})", ("a%20b", "a=1")),
    ("pickle.loads(b\"S'\\\\xe9'\\n.\")", "\xe9"),
    ("hashlib.md5('a').hexdigest()[:4]", "0cc1"),
    ("sorted(random.sample({1, 2}, 2))", [1, 2]),
    ("random.randint(1.0, 1.0)", 1),
    ("(lambda x: (random.shuffle(x, lambda: 0.0), x)[1])([1, 2, 3])", [2, 3, 1]),
    ("json.loads('[1]', encoding='utf-8')", [1]),
    ("Image.ANTIALIAS == Image.LANCZOS", True),
    ("Image.new('L', (1, 1)).tostring()", b"\0"),
    ("types.StringType, types.NoneType", (str, type(None))),
    ("walked()", [2, 0]),
    ("open(FOLDER + '/file', 'rU').read()", "content"),
]


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[each for each, _ in VALUES])
def test_what_programs_write(expression: str, expected: Any, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "below").mkdir(parents=True)
    (folder / "file").write_text("content")
    source = f"FOLDER = {str(folder)!r}\n{PREPARE}\nfound = {expression}\n"
    found = run(tmp_path, source)["found"]
    if expected is not None:
        assert found == expected


IMPORTS = [
    ("import imp\nfound = imp.new_module('x').__name__", "x"),
    ("from distutils.version import LooseVersion as V\nfound = V('1.10') > V('1.9')", True),
    ("from distutils.version import StrictVersion as V\nfound = V('1.0a1') < '1.0'", True),
    ("import distutils.util\nfound = distutils.util.strtobool('yes')", 1),
    (
        "import pkg_resources\nfound = pkg_resources.get_distribution('numpy').version",
        np.__version__,
    ),
    ("from pkg_resources import parse_version as p\nfound = p('1.10') > p('1.9')", True),
    ("import cPickle as pickle\nfound = pickle.loads(pickle.dumps(1))", 1),
    ("from StringIO import StringIO\nfound = StringIO('a').read()", "a"),
    ("import Queue\nfound = Queue.Queue().empty()", True),
    ("import xml.etree.cElementTree as ET\nfound = ET.fromstring('<a/>').tag", "a"),
    ("from urlparse import urlparse\nfound = urlparse('http://a/b').path", "/b"),
    ("import importlib\nfound = importlib.import_module('cPickle').__name__", "pickle"),
    ("try:\n  import cPickle as p\nexcept ImportError:\n  p = None\nfound = p", None),
    ("import numpy.testing.utils as u\nfound = u.assert_allclose.__name__", "assert_allclose"),
    ("from numpy.core.umath_tests import inner1d\nfound = inner1d([1, 2], [3, 4]).item()", 11),
    ("from numpy.compat import asbytes, asstr\nfound = asstr(asbytes('a'))", "a"),
    ("from numpy.compat.py3k import *\nfound = asbytes_nested([['a'], 'b'])", [[b"a"], b"b"]),
    ("import commands\nfound = commands.getoutput('echo a')", "a"),
]


@pytest.mark.parametrize(("source", "expected"), IMPORTS, ids=[each for each, _ in IMPORTS])
def test_imports_of_modules_that_are_gone(source: str, expected: Any, tmp_path: Path) -> None:
    assert run(tmp_path, source)["found"] == expected


SCIPY = [
    ("comb(4, 2)", 6.0),
    ("float(logsumexp([0.0, 0.0]))", pytest.approx(np.log(2.0))),
    ("imresize(image, 0.5).shape", (2, 3, 3)),
    ("imresize(image, 50).shape", (2, 3, 3)),
    ("imresize(image, (8, 9)).shape", (8, 9, 3)),
    ("imresize(image[..., 0], (8, 9), 'nearest').dtype.name", "uint8"),
    ("imresize(image[..., 0].astype('f'), (2, 2), mode='F').dtype.name", "float32"),
    ("imrotate(image, 90).shape", (4, 6, 3)),
    ("toimage(image[..., 0]).mode, toimage(image).size", ("L", (6, 4))),
    ("bytescale(np.array([0.0, 1.0])).tolist()", [0, 255]),
    ("(imsave(PATH, image), imread(PATH).tolist() == image.tolist())[1]", True),
    ("(imsave(PATH, image), imread(PATH, flatten=True).dtype.name)[1]", "float32"),
    ("(imsave(PATH, image), imread(PATH, mode='L').shape)[1]", (4, 6)),
]


@pytest.mark.parametrize(("expression", "expected"), SCIPY, ids=[each for each, _ in SCIPY])
def test_images_of_scipy(expression: str, expected: Any, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    source = "import numpy as np\nfrom scipy.misc import *\nfrom scipy.misc import imread\n"
    source += f"PATH = {str(tmp_path / 'image.png')!r}\n"
    source += "image = np.arange(72, dtype=np.uint8).reshape(4, 6, 3)\n"
    assert run(tmp_path, f"{source}found = {expression}")["found"] == expected


def test_files_without_a_mode_can_be_written(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    source = f"import h5py\nPATH = {str(tmp_path / 'a.h5')!r}\n"
    source += "with h5py.File(PATH) as file:\n    file['x'] = [1, 2]\n"
    source += "with h5py.File(PATH) as file:\n    found = list(file['x'])\n"
    source += "with h5py.File('kept', driver='core', backing_store=False) as file:\n"
    source += "    image = file.fid == file.id\n"
    space = run(tmp_path, source)
    assert space["found"] == [1, 2] and space["image"] and not Path("kept").exists()
    source = "import h5py\nis_file = lambda file: isinstance(file, h5py.File)\n"
    with h5py.File(tmp_path / "a.h5", "r") as file:
        assert run(tmp_path, source)["is_file"](file)


def test_an_array_of_one_element_is_an_element(tmp_path: Path) -> None:
    source = "import numpy as np\na = np.zeros(3)\na[1] = np.array([4.0])\nb = [0]\nb[0] = a[:1]\n"
    space = run(tmp_path, source)
    assert space["a"].tolist() == [0.0, 4.0, 0.0]
    assert isinstance(space["b"][0], np.ndarray)


def test_generators_end_by_stop_iteration(tmp_path: Path) -> None:
    source = "def f(x):\n    'text'\n    while True:\n        yield next(x)\n"
    source += "def g():\n    yield 1\n    raise StopIteration\n"
    source += "def h():\n    def inner():\n        raise StopIteration\n    yield 1\n"
    space = run(tmp_path, source)
    assert list(space["f"](iter([1, 2]))) == [1, 2] and list(space["g"]()) == [1]
    assert space["f"].__doc__ == "text" and list(space["h"]()) == [1]


def test_views_of_dictionaries_have_elements(tmp_path: Path) -> None:
    source = "d = {'a': 1, 'b': 2}\nfirst = d.items()[0], d.keys()[1], d.values()[:1]\n"
    source += "class Own:\n    def keys(self): return ('x',)\nown = Own().keys()[0]\n"
    space = run(tmp_path, source)
    assert space["first"] == (("a", 1), "b", [1]) and space["own"] == "x"


def test_iterators_with_next(tmp_path: Path) -> None:
    source = "class Two:\n    n = 0\n    def __iter__(self): return self\n"
    source += (
        "    def next(self):\n        self.n += 1\n        if self.n > 2: raise StopIteration\n"
    )
    source += "        return self.n\nfound = list(Two()), next(Two())\n"
    assert run(tmp_path, source)["found"] == ([1, 2], 1)


def test_pickles_of_files_opened_as_text(tmp_path: Path) -> None:
    path = tmp_path / "data.pkl"
    path.write_bytes(pickle.dumps([1, 2]))
    source = "import pickle\nimport weft as tf\n"
    source += f"found = [pickle.load(o({str(path)!r}, 'r')) for o in (open, tf.gfile.Open)]\n"
    assert run(tmp_path, source)["found"] == [[1, 2], [1, 2]]


def test_a_use_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = "import numpy as np\nfor _ in range(3):\n    np.float(1)\n"
    with caplog.at_level(logging.WARNING, "weft.legacy"):
        run(tmp_path, source)
    expected = f"{tmp_path}/train.py:3 uses np.float, gone since NumPy 1.24: float is used"
    assert [record.getMessage() for record in caplog.records] == [expected]


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.float",
        "import numpy as np\nnp.zeros(1).tostring()",
        "import numpy as np\nfloat(np.zeros(1))",
        "import numpy as np\nnp.array([[1], [1, 2]])",
        "from collections import Mapping",
        "import cPickle",
        "print 1",
    ],
)
def test_strict(source: str, tmp_path: Path) -> None:
    with flags.STRICT.override(True):
        with pytest.raises((AttributeError, ImportError, TypeError, ValueError, SyntaxError)):
            run(tmp_path, source)
    run(tmp_path, source)


def test_strict_says_where(tmp_path: Path) -> None:
    with flags.STRICT.override(True), pytest.raises(notices.OldNameError) as caught:
        run(tmp_path, "import numpy as np\n\nnp.float")
    place = f"{tmp_path}/train.py:3"
    assert str(caught.value) == f"{place} uses np.float, gone since NumPy 1.24 (--strict)"


def test_strict_about_modules_says_where(tmp_path: Path) -> None:
    with flags.STRICT.override(True), pytest.raises(notices.OldModuleError) as caught:
        run(tmp_path, "import cPickle")
    assert "train.py:1 uses cPickle, gone since Python 3 (--strict)" in str(caught.value)
    assert caught.value.__context__ is None


def test_todays_code_sees_today(tmp_path: Path) -> None:
    """The modules themselves are as they were, also after the user's code has used old names."""
    run(
        tmp_path, "import numpy as np, collections, time\nnp.float, collections.Mapping, time.clock"
    )
    for module, name in (("numpy", "float"), ("collections", "Mapping"), ("time", "clock")):
        assert name not in vars(importlib.import_module(module))
    assert not hasattr(np.ndarray, "tostring")


def test_what_is_missing_is_missing_at_the_users_line(tmp_path: Path) -> None:
    source = "import numpy as np\nclass A:\n    pass\ndef f():\n    return A().iteritems()\n"
    space = run(tmp_path, source)
    with pytest.raises(AttributeError, match="'A' object has no attribute 'iteritems'") as caught:
        space["f"]()
    assert [entry.lineno for entry in caught.traceback][-1] == 4


def test_whose_code_it_is(tmp_path: Path) -> None:
    assert users_code.is_users(str(tmp_path / "train.py"))
    for module in ("numpy", "json", "weft", "weft.legacy.old.table", "pytest", "jax"):
        spec = importlib.util.find_spec(module)
        assert spec is not None and spec.origin is not None
        assert not users_code.is_users(spec.origin)


@pytest.mark.parametrize(
    ("asked", "is_old"), [("", True), (">=2.7, !=3.0.*", True), (">=3.6", True), (">=3.9", False)]
)
def test_whose_a_library_is(asked: str, is_old: bool, tmp_path: Path) -> None:
    """Libraries that ask for a Python of today are today's."""
    folder = tmp_path / "site-packages"
    (folder / "some_library").mkdir(parents=True)
    information = folder / "some_library-1.0.dist-info"
    information.mkdir()
    requires = f"Requires-Python: {asked}\n" if asked else ""
    text = f"Metadata-Version: 2.1\nName: some-library\nVersion: 1.0\n{requires}"
    (information / "METADATA").write_text(text)
    assert users_code.is_users(str(folder / "some_library" / "__init__.py")) is is_old


def test_code_is_kept(tmp_path: Path) -> None:
    with flags.CACHE.override(str(tmp_path / "cache")):
        first = loading.compile_users(b"import numpy as np\nx = np.float", "train.py")
        (kept,) = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
        assert loading.compile_users(b"import numpy as np\nx = np.float", "train.py") == first
        kept.unlink()
    assert not (tmp_path / "__pycache__").exists()


def test_autograph_reads_what_was_compiled(tmp_path: Path, monkeypatch: Any) -> None:
    """Functions that AutoGraph converts have old names, and Python 2, as all of the program has."""
    monkeypatch.setattr(sources, "_readers", [])
    source = (
        "import collections\nimport numpy as np\nimport weft as tf\n"
        "equality = tf.contrib.autograph.Feature.EQUALITY_OPERATORS\n"
        "@tf.contrib.autograph.convert(optional_features=equality)\n"
        "def larger(x, sizes):\n"
        "    if isinstance(sizes, collections.Mapping) and tf.reduce_sum(x) > np.float(0):\n"
        "        x = x * 2\n"
        "    one = tf.constant(1)\n"
        "    if one == tf.constant(1):\n"
        "        x = x + 1\n"
        "    return x\n"
    )
    sources.read_by(loading.read_users)
    larger = run(tmp_path, source)["larger"]
    with tf.Session() as session:
        assert session.run(larger(tf.constant(3.0), {})) == 7.0
        assert session.run(larger(tf.constant(3.0), [])) == 4.0


def test_indices_in_a_file_without_numpy(tmp_path: Path) -> None:
    """An array may come from elsewhere: from a checkpoint, say."""
    source = "def part(x):\n    at = [slice(0, 1) for _ in range(2)]\n    return x[at]\n"
    assert run(tmp_path, source)["part"](np.eye(3)).shape == (1, 1)


def test_autograph_reads_files_as_they_are_that_were_loaded_before(monkeypatch: Any) -> None:
    monkeypatch.setattr(sources, "_readers", [])
    monkeypatch.setattr(users_code, "is_users", lambda file: True)
    sources.read_by(loading.read_users)

    @tf.contrib.autograph.convert()
    def squashed(x: Any) -> Any:
        return tf.tanh(x) if tf.reduce_max(x) > 0 else x

    with tf.Session() as session:
        assert session.run(squashed(tf.constant(30.0))) == 1


@pytest.mark.parametrize(
    "end", ["math.floor(7 / 2.0)", "n", "2 * n - 3", "np.ceil(2.5)", "6 / 2.0"]
)
def test_floats_as_ends_of_slices(end: str, tmp_path: Path) -> None:
    start = "import math\nimport numpy as np\na = np.arange(12)\nn = np.floor(3.9)\n"
    rest = f"b = a[:{end}]\nc = a.reshape(4, 3)[{end}:, 1]"
    for python2 in ("", "print a\n"):  # where math.floor gave a float
        space = run(tmp_path, start + python2 + rest)
        assert space["b"].tolist() == [0, 1, 2] and space["c"].tolist() == [10]


def test_floats_as_ends_of_slices_are_an_error_where_the_user_is_strict(tmp_path: Path) -> None:
    with flags.STRICT.override(True), pytest.raises(TypeError, match="slice indices"):
        run(tmp_path, "import numpy as np\nb = np.arange(12)[: np.ceil(2.5)]")
