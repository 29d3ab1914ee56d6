"""Python 2 programs do what Python 2 did, under the line numbers they have."""

from __future__ import annotations

import gc
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.legacy.old import loading
from weft.legacy.old.python2 import statements, translation

SYNTAX = [
    ("print", "print()"),
    ("print 'a', b", "print('a', b)"),
    ("print 'a',", "print('a', end=' ')"),
    ("print (a), b", "print((a), b)"),
    ("print('a', 'b')", "print(('a', 'b'))"),
    ("print >>f, a, b", "print(a, b, file=f)"),
    ("print >>f", "print(file=f)"),
    ("print >> f, a,", "print(a, file=f, end=' ')"),
    ("if x: print y; print z", "if x: print(y); print(z)"),
    ("else: print lambda x: x", "else: print(lambda x: x)"),
    ("print a # why", "print(a) # why"),
    ("from __future__ import print_function\nprint(a, b)", None),
    ("except E, e: pass", "except E as e: pass"),
    ("except (A, B), e:", "except (A, B) as e:"),
    ("except E as e:", "except E as e:"),
    ("except:", "except:"),
    ("raise E", "raise E"),
    ("raise E, 'm'", "raise __weft_python2__.exception(E, 'm')"),
    ("raise E, 'm', t", "raise __weft_python2__.exception(E, 'm', t)"),
    ("exec 'x' in d, e", "__weft_python2__.execute('x', d, e)"),
    ("exec(code)", "__weft_python2__.execute(code)"),
    ("a <> b", "a != b"),
    ("`a`", "repr((a))"),
    ("0777 + 10L + 0xFFL + 0 + 1.5", "0o777 + 10 + 0xFF + 0 + 1.5"),
    ("ur'a' + u'b'", "r'a' + u'b'"),
    ("'C:\\Users' + '\\\\U'", "'C:\\\\Users' + '\\\\U'"),
    ("u'\\u00e9'", "u'\\u00e9'"),
    ("[x for x in 1, 2]", "[x for x in( 1, 2)]"),
    ("[x for x in f(1, 2)]", "[x for x in f(1, 2)]"),
    ("f(async=1)", "f(async_=1)"),
    ("x = '''print 1\nprint 2'''", None),
    ("f(a,\n  print_=1)", None),
]


@pytest.mark.parametrize(("old", "new"), SYNTAX, ids=[old for old, _ in SYNTAX])
def test_syntax(old: str, new: str | None) -> None:
    assert statements.translate(f"{old}\n") == f"{old if new is None else new}\n"


# As programs of the time did.
LEAVES_FILES_OPEN = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def run(folder: Path, source: str, name: str = "old.py") -> dict[str, Any]:
    path = folder / name
    path.write_text(source)
    space: dict[str, Any] = {"__name__": "old"}
    exec(loading.compile_users(path.read_bytes(), str(path)), space)
    return space


# Each is run in a file with `print` as a statement: Python 2 for certain.
VALUES: list[tuple[str, Any]] = [
    ("7 / 2, -7 / 2, 7 / 2.0, 7 // 2", (3, -4, 3.5, 3)),
    ("(np.array([7]) / 2).tolist()", [3]),
    ("range(3) + [4], map(None, [1], [2]), zip([1], [2])", ([0, 1, 2, 4], [(1, 2)], [(1, 2)])),
    ("filter(None, (0, 1)), filter(str.isalpha, 'a1')", ((1,), "a")),
    ("map(lambda (a, (b, c)): a + b + c, [(1, (2, 3))])", [6]),
    ("sum(xrange(4)), reduce(lambda a, b: a * b, [2, 3]), long(3), unichr(97)", (6, 6, 3, "a")),
    ("isinstance('a', basestring), isinstance(u'a', unicode)", (True, True)),
    ("unicode('a', 'utf-8'), unicode(3)", ("a", "3")),
    ("cmp(1, 2), apply(max, [1, 2]), None < 0, 0 > None", (-1, 2, True, True)),
    ("sorted([1, 3, 2], lambda a, b: cmp(b, a)), sorted([2, 1], key=abs)", ([3, 2, 1], [1, 2])),
    ("round(2.5), round(-0.5), round(2.675, 1)", (3.0, -1.0, 2.7)),
    ("{1: 2}.keys()[0], {1: 2}.items(), {1: 2}.has_key(1)", (1, [(1, 2)], True)),
    ("'abc'.encode('hex'), 'e'.encode('utf-8')", ("616263", b"e")),
    ("'%s' % 'e'.encode('utf-8')", "e"),
    ("`1`, 1 <> 2, 0777", ("1", True, 511)),
    ("string.letters[:1], itertools.izip([1], [2]).next(), sys.maxint > 0", ("a", (1, 2), True)),
    ("Queue.Queue().empty(), urlparse.urlparse('http://a/b').path", (True, "/b")),
    ("divided(8), caught(), counted(), ordered(), compared()", (4, ("m", 2), [1, 2], [3, 1], True)),
    ("executed(), bool(Empty()), Halves() / 2", (2, False, "half")),
    ("sorted([3, None, 'a', 2]), max(None, 3), min([None, 2])", ([None, 2, 3, "a"], 3, None)),
    ("sorted([(2, 'b'), (1, None), (2, None)])", [(1, None), (2, None), (2, "b")]),
    ("cmp('a', 1), cmp(None, 1), cmp([1, 'a'], [1, 2]), cmp({1: 2}, {1: 3})", (1, -1, 1, -1)),
    ("mixed()", [None, 1, "x"]),
    ("math.floor(2.5) / 2, math.ceil(0.5), up(0.5), oct(8)", (1.0, 1.0, 1.0, "010")),
    ("type(u'a') == unicode, isinstance(sys.stderr, file)", (True, True)),
    (
        "'hi, you!'.translate(None, ',!'), 'abc'.translate(string.maketrans('a', 'z'), 'b')",
        ("hi you", "zc"),
    ),
    (
        "string.ljust('a', 3), string.joinfields(['a', 'b'], '-'), string.atol('3')",
        ("a  ", "a-b", 3),
    ),
    (
        "'caf\\xc3\\xa9' == u'caf\\xe9', ord('\\xff'), chr(200) == '\\xc8', ord(chr(255))",
        (True, 255, True, 255),
    ),
    ("'\\xe9'.decode('latin1'), u'\\xe9'.encode('utf-8').decode('utf-8')", ("\xe9", "\xe9")),
    ("isinstance(u'a'.encode('utf8'), str), type(u'a'.encode('utf8')) is str", (True, True)),
    ("' '.join(['a', u'b'.encode('utf8')]), '-'.join('ab')", ("a b", "a-b")),
    (
        "struct.unpack('>i', struct.pack('>i', 5) + 'ab'[:0])[0], struct.unpack('B', '\\xff')",
        (5, (255,)),
    ),
    ("zlib.decompress(zlib.compress('abc')).upper(), base64.b64encode('abc')", ("ABC", "YWJj")),
    ("re.findall('[a-c]+', u'xab'.encode('utf8')), hashed()", (["ab"], "900150983cd2")),
    ("str(Shown()), unicode(Shown()), Sliced()[1:3], Sliced()[7]", ("\xe9", "\xe9", (1, 3), 7)),
    ("Keys().here, Keys().gone", ("own", "gone")),
    ("subprocess.check_output(['echo', 'a b']).split(' ')", ["a", "b\n"]),
    ("subprocess.Popen(['cat'], stdin=-1, stdout=-1).communicate('in')[0] + '!'", "in!"),
    ("os.environ.has_key('PATH'), UserDict.UserDict(a=1).keys()", (True, ["a"])),
    (
        "operator.isSequenceType([]), operator.isMappingType({}), operator.isNumberType(3)",
        (True, True, True),
    ),
    ("new.instancemethod(lambda self: 5, 1, int)(), sha.new('abc').hexdigest()[:4]", (5, "a999")),
    ("len(random.sample(np.arange(6), 3)), renamed.__name__", (3, "other")),
    ("hidden(2), range(2) + [2]", ("2", [0, 1, 2])),
]
PREPARE = """\
import base64, hashlib, itertools, math, operator, os, random, re
import string, struct, subprocess, sys, zlib
from math import ceil as up
import Queue, UserDict, new, sha, urlparse
import numpy as np
print >>sys.stderr, "Python 2"
def divided(x):
\tx /= 2
\treturn x
def caught():
    try:
        raise ValueError, "m"
    except ValueError, e:
        first = e.message
    try:
        raise IOError, (2, "text")
    except IOError, (number, text):
        return first, number
class Counter:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def next(self):
        self.n += 1
        if self.n > 2: raise StopIteration
        return self.n
    def __cmp__(self, other): return cmp(self.n, other.n)
def counted(): return list(Counter())
def compared(): return Counter() == Counter() and Counter() <= Counter()
def ordered():
    x = [1, 3]
    x.sort(lambda a, b: b - a)
    return x
def executed():
    space = {}
    exec "y = 5 / 2" in space
    return space["y"]
def mixed():
    x = ["x", 1, None]
    x.sort()
    return x
def hashed():
    m = hashlib.md5()
    m.update("abc")
    return m.hexdigest()[:12]
def hidden(range): return "%s" % range
def renamed(): pass
renamed.func_name = "other"
class Shown:
    def __unicode__(self): return u"\\xe9"
    def __str__(self): return unicode(self).encode("utf-8")
class Sliced:
    def __getslice__(self, i, j): return i, j
    def __getitem__(self, i): return i
class Keys(dict):
    here = "own"
    def __getattr__(self, name): return self[name] if self.has_key(name) else name
class Empty:
    def __nonzero__(self): return False
class Halves(object):
    def __div__(self, other): return "half"
"""


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[each for each, _ in VALUES])
def test_meaning(expression: str, expected: Any, tmp_path: Path) -> None:
    assert run(tmp_path, f"{PREPARE}found = {expression}\n")["found"] == expected


def test_tabs_are_eight_columns(tmp_path: Path) -> None:
    source = "print 1\nif 1:\n        x = 1\n\ty = 2\nfor i in [1]:\n    if i:\n\tz = 3\n"
    assert run(tmp_path, source)["z"] == 3


def test_division_by_the_rules_of_the_file(tmp_path: Path) -> None:
    future = "from __future__ import division\nprint 1\n"
    assert run(tmp_path, future + "x = 1 / 2\n")["x"] == 0.5
    assert run(tmp_path, "print 1\nx = 1 / 2\n")["x"] == 0
    assert run(tmp_path, "x = 1 / 2\n")["x"] == 0.5


def test_division_in_place_evaluates_once(tmp_path: Path) -> None:
    source = "print 1\ncalls = []\ndef f(x):\n    calls.append(x)\n    return x\n"
    source += "d = {1: [9, 9]}\nf(d)[f(1)][f(0)] /= 2\nd[1][1:] = [4]\n"
    source += "import numpy as np\na = np.array([1.0])\nb = a\na /= 2\n"
    space = run(tmp_path, source)
    assert space["d"] == {1: [4, 4]} and len(space["calls"]) == 3
    assert space["b"].tolist() == [0.5]


def test_tensors_are_divided(tmp_path: Path) -> None:
    source = "print 1\nimport weft as tf\nx, y = tf.constant(7) / 2, tf.constant(7.0) / 2\n"
    space = run(tmp_path, source)
    assert space["x"].dtype.name == "int32" and space["y"].dtype.name == "float32"


def test_a_file_is_python_2_when_python_3_does_not_take_it(tmp_path: Path) -> None:
    cases = {
        "x = 1\n": False,
        "print('a')\n": False,
        "print 'a'\n": True,
        "import cPickle\n": True,
        "try:\n    import cPickle\nexcept ImportError:\n    cPickle = None\n": False,
        "def f(async=True): pass\n": False,
        "from StringIO import StringIO\n": True,
        "for i in xrange(3): pass\n": True,
        "def f(x):\n    return isinstance(x, unicode)\n": True,
        "def f(unicode): return unicode\n": False,
        "from six.moves import xrange\nxrange(3)\n": False,
        "from common import *\nxrange(3)\n": False,
        "import sys\nif sys.version_info[0] < 3:\n    x = unicode('a')\n": False,
        "try:\n    xrange(3)\nexcept NameError:\n    pass\n": False,
        "try:\n    text = unicode\nexcept NameError:\n    text = str\n": False,
    }
    for source, expected in cases.items():
        _, is_python2 = translation.parse(source.encode(), str(tmp_path / "x.py"))
        assert is_python2 is expected, source
    (tmp_path / "commands.py").write_text("")
    _, is_python2 = translation.parse(b"import commands\n", str(tmp_path / "x.py"))
    assert not is_python2, "a module of the program's own"


@pytest.mark.parametrize(
    ("main", "helper", "expected"),
    [
        ("print 'a'\nimport helper_of_old as h\n", "x = 1 / 2\n", 0),
        ("print('a')\nimport helper_of_old as h\n", "x = 1 / 2\n", 0.5),
        ("import helper_of_old as h\nx = 1 / 2\n", "print 'a'\nx = 1 / 2\n", 0),
        ("from helper_of_old import x\nh, x = 0, 1 / 2\n", "import cPickle\nx = 1\n", 0),
        ("import helper_of_old as h\nx = 1 / 2\n", "def f(): return xrange(3)\n", 0.5),
        ("print 'a'\nimport helper_of_old as h\n",
         "from __future__ import division\nx = 1 / 2\n", 0.5),
    ],
)  # fmt: skip
def test_a_program_is_of_one_python(
    main: str, helper: str, expected: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that Python 3 cannot run tells how all of them divide."""
    (tmp_path / "helper_of_old.py").write_text(helper)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(loading, "_program_is_python2", False)
    monkeypatch.delitem(sys.modules, "helper_of_old", raising=False)
    loading.install()
    space: dict[str, Any] = {"__name__": "old"}
    exec(loading.compile_main(main.encode(), str(tmp_path / "main.py")), space)
    monkeypatch.delitem(sys.modules, "helper_of_old", raising=False)
    assert space.get("x", getattr(space["h"], "x", None)) == expected


@pytest.mark.parametrize(
    ("main", "start", "expected"),
    [
        ("", "from memory_of_old import size\n", 0),
        ("", "import memory_of_old\n", 0),
        ("", "from .memory_of_old import size\n", 0.5),
        ("", "try:\n  import memory_of_old\nexcept ImportError:\n  pass\n", 0.5),
        ("import sys\nsys.path.append('package_of_old')\n", "", 0.5),
    ],
)  # fmt: skip
def test_a_package_that_imports_its_own_by_name(
    main: str, start: str, expected: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only Python 2 finds a neighbour in a package by its name alone."""
    package = tmp_path / "package_of_old"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "memory_of_old.py").write_text("size = 1\n")
    (package / "core.py").write_text(f"{start}x = 1 / 2\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(loading, "_program_is_python2", False)
    loading.install()
    space: dict[str, Any] = {"__name__": "old"}
    main += "from package_of_old.core import x\n"
    exec(loading.compile_main(main.encode(), str(tmp_path / "main.py")), space)
    for name in [name for name in sys.modules if name.partition(".")[0] == "package_of_old"]:
        del sys.modules[name]
    assert space["x"] == expected


def test_an_installed_package_is_for_both(tmp_path: Path) -> None:
    """It may use the name where only Python 2 comes: names are then looked up one by one."""
    path = tmp_path / "site-packages" / "of_both.py"
    _, is_python2 = translation.parse(b"def f(): return xrange(3)\n", str(path))
    assert not is_python2


def test_builtins_of_python_2_in_a_file_for_both(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The name is there, and `/` is Python 3's."""
    source = "PY2 = False\nx = 1 / 2\ny = list(xrange(2))\nz = isinstance(u'a', basestring)\n"
    source += "try:\n    text = unicode\nexcept NameError:\n    text = bytes\n"
    space = run(tmp_path, source)
    assert (space["x"], space["y"], space["z"]) == (0.5, [0, 1], True)
    assert space["text"] is bytes
    assert "old.py:3 uses xrange, gone since Python 3: range is used" in caplog.text


def test_a_star_import_may_bring_the_name(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "brings_a_range.py").write_text("xrange = 5\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert run(tmp_path, "from brings_a_range import *\nx = xrange\n")["x"] == 5


def test_what_is_wrong_in_both_is_python_3s_error(tmp_path: Path) -> None:
    with pytest.raises(SyntaxError) as caught:
        run(tmp_path, "x = 1\ndef f(:\n    pass\n")
    assert caught.value.lineno == 2


def test_tracebacks_have_the_lines_of_the_file(tmp_path: Path) -> None:
    source = 'def f(a, (b, c)):\n    print """x\n    y""", \\\n        b\n'
    source += "    return a / c\n\nf(1, (2, 0))\n"
    with pytest.raises(ZeroDivisionError) as caught:
        run(tmp_path, source)
    lines = [
        (entry.lineno, entry.line)
        for entry in traceback.extract_tb(caught.value.__traceback__)
        if entry.filename.endswith("old.py")
    ]
    assert lines == [(7, "f(1, (2, 0))"), (5, "return a / c")]


def test_imports_of_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`import utils` in a package finds the package's."""
    package = tmp_path / "neighbours_of_old"
    (package / "below").mkdir(parents=True)
    files = {
        "__init__.py": "",
        "utils.py": "print 'utils'\nname = 'own'\n",
        "below/__init__.py": "",
        "below/deep.py": "value = 5\n",
        "main.py": "print 1\nimport utils, below.deep\nimport below.deep as d\nimport json\n"
        "from utils import name\nfrom below import deep\n",
        "future.py": "from __future__ import absolute_import\nprint 1\n"
        "try:\n    import utils\nexcept ImportError:\n    utils = None\n",
    }
    for name, text in files.items():
        (package / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    loading.install()
    import neighbours_of_old.future as future
    import neighbours_of_old.main as main

    assert main.name == "own" and main.utils.__name__ == "neighbours_of_old.utils"
    assert main.below.deep.value == main.d.value == main.deep.value == 5
    assert main.json.__name__ == "json"
    assert future.utils is None


@LEAVES_FILES_OPEN
def test_pickles_of_python_2(tmp_path: Path) -> None:
    """With strings of bytes, as an array of NumPy's has; and from files opened as text."""
    path = tmp_path / "data.pkl"
    path.write_bytes(b"(dp0\nS'caf\\xe9'\np1\nI1\ns.")
    source = (
        f"import cPickle, pickle\nwith open({str(path)!r}) as f:\n    found = cPickle.load(f)\n"
    )
    source += f"again = pickle.load(open({str(path)!r}, 'rb'))\n"
    source += f"pickle.dump([1], open({str(tmp_path / 'new')!r}, 'w'))\n"
    space = run(tmp_path, source)
    assert space["found"] == space["again"] == {"caf\xe9": 1}
    assert (tmp_path / "new").read_bytes()


@LEAVES_FILES_OPEN
def test_files(tmp_path: Path) -> None:
    """Any bytes are text, and text can be written to a file of bytes."""
    (tmp_path / "latin").write_bytes(b"caf\xe9\r\n")
    source = f"print 1\nf = {str(tmp_path)!r}\nx = open(f + '/latin').read()\n"
    source += "g = open(f + '/copy', 'wb')\ng.write(x)\ng.close()\n"
    source += "y = open(f + '/latin', 'rU').read()\n"
    space = run(tmp_path, source)
    assert (tmp_path / "copy").read_bytes() == b"caf\xe9\r\n"
    assert space["y"].endswith("\n") and "\r" not in space["y"]


@LEAVES_FILES_OPEN
@pytest.mark.parametrize(
    "opened", ["open(f, 'rb')", "gzip.open(z)", "zipfile.ZipFile(a).open('m')"]
)
def test_what_is_read_of_bytes_is_a_string(opened: str, tmp_path: Path) -> None:
    source = (
        f"print 1\nimport csv, gzip, zipfile\nf = {str(tmp_path / 'f')!r}\n"
        "z, a = f + '.gz', f + '.zip'\n"
        "text = 'ab,c\\nd,\\xff\\n'\n"
        "for g in open(f, 'wb'), gzip.open(z, 'wb'):\n    g.write(text); g.close()\n"
        "w = zipfile.ZipFile(a, 'w'); w.write(f, 'm'); w.close()\n"
        f"r = {opened}\n"
        "first, rest = r.readline().strip().split(','), r.read()\n"
        f"lines = [line.rstrip('\\n') for line in {opened}]\n"
        f"rows = list(csv.reader({opened}))\n"
        "found = {first[0]: 1}['ab'], first, rest[0] == 'd', ord(rest[2]), 'd' in rest, len(rest)\n"
    )
    space = run(tmp_path, source)
    assert space["found"] == (1, ["ab", "c"], True, 255, True, 4)
    assert space["lines"][0] == "ab,c" and space["rows"][0] == ["ab", "c"]
    assert repr(space["first"]) == "['ab', 'c']"
    space.clear()
    gc.collect()  # the files of this test, not of another one


@LEAVES_FILES_OPEN
def test_libraries_read_bytes_of_a_file(tmp_path: Path) -> None:
    """They count on numbers: `major, minor = magic[-2:]`."""
    np.save(tmp_path / "x.npy", np.arange(3))
    source = f"print 1\nimport numpy as np\nx = np.load(open({str(tmp_path / 'x.npy')!r}, 'rb'))\n"
    assert run(tmp_path, source)["x"].tolist() == [0, 1, 2]


@LEAVES_FILES_OPEN
def test_encoded_text_goes_into_any_file(tmp_path: Path) -> None:
    source = (
        f"print 1\nimport tempfile\nf = {str(tmp_path / 'f')!r}\n"
        "g = open(f, 'w'); g.write(u'\\xe9'.encode('utf-8')); print >>g, u'\\xe9'; g.close()\n"
        "t = tempfile.TemporaryFile(); t.write('abc'); t.seek(0); found = t.read() + '!'\n"
    )
    assert run(tmp_path, source)["found"] == "abc!"
    gc.collect()
    assert (tmp_path / "f").read_bytes() == b"\xc3\xa9\xc3\xa9\n"


def test_strings_are_pickled_as_bytes(tmp_path: Path) -> None:
    source = "print 1\nimport cPickle\nx = cPickle.dumps([u'a'.encode('utf-8')], 2)\n"
    assert b"weft" not in bytes(run(tmp_path, source)["x"])


def test_asking_a_dictionary_as_python_2_did_is_a_sign(tmp_path: Path) -> None:
    cases = {
        "x = {}.has_key(1)\n": True,
        "def has_key(d, k): return k in d\nx = y.has_key(1)\n": False,
        "import six\nx = y.has_key(1)\n": False,
    }
    for source, expected in cases.items():
        _, is_python2 = translation.parse(source.encode(), str(tmp_path / "x.py"))
        assert is_python2 is expected, source


def test_printed_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(tmp_path, "print 'x\\n', 1, u'\\xe9'.encode('utf-8'), '\\t', 2\nprint '\\xff'\n")
    assert capsys.readouterr().out.startswith("x\n1 \xe9 \t2\n")


def test_a_source_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes(b"# -*- coding: latin-1 -*-\nprint 1\nx = u'\xe9'\n")
    space: dict[str, Any] = {"__name__": "latin"}
    exec(loading.compile_users(path.read_bytes(), str(path)), space)
    assert space["x"] == "\xe9"


def test_metaclasses(tmp_path: Path) -> None:
    source = "print 1\nclass M(type): pass\nclass A:\n    __metaclass__ = M\n"
    space = run(tmp_path, source)
    assert type(space["A"]) is space["M"]


def test_arrays_are_divided_in_their_own_type(tmp_path: Path) -> None:
    source = (
        "print 1\nimport numpy as np\na = np.array([7, 9])\na /= 2\nb = np.array([7])\nb /= 2.0\n"
    )
    space = run(tmp_path, source)
    assert space["a"].tolist() == [3, 4] and space["b"].dtype.kind == "i"
    assert isinstance(space["a"], np.ndarray)
