"""Modules of operations are imported when they are needed, and each then does all its work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import weft as tf
from weft import ops
from weft.graph.op_def import GRADIENTS, REGISTRY
from weft.graph.registry import Registry

ROOT = Path(__file__).parent.parent.parent
# Whose gradients differentiate graphs: imported with `weft.autodiff.gradients`.
AUTODIFF = "weft.autodiff."

# Says where things are attached to operations that another module declares.
WATCH = """
import sys, types
from weft.graph import op_def
from weft.ops import load_all
homes, attached = {}, []
def importing():
    frame = sys._getframe(2)
    while frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame.f_globals["__name__"]
def watch(name):
    before = getattr(op_def.OpDef, name)
    def after(self, *args, **kwargs):
        attached.append((self.name, importing()))
        return before(self, *args, **kwargs)
    setattr(op_def.OpDef, name, after)
for each in ("numpy", "traced", "prepared"):
    watch(each)
def put(table, name, value):
    if table is op_def.REGISTRY:
        homes[name] = importing()
    else:
        attached.append((name, importing()))
    dict.__setitem__(table, name, value)
type(op_def.REGISTRY).__setitem__ = put
import weft.api.groundwork
load_all()
for name, module in attached:
    if module != homes.get(name, module):
        print(homes[name], module)
"""


# Says which classes get attributes when more is imported.
COMPARE = """
import sys, weft as tf
from weft.ops import load_all
def classes():
    return {
        value: set(vars(value))
        for name, module in list(sys.modules.items()) if name.startswith("weft.")
        for value in list(vars(module).values())
        if isinstance(value, type) and str(value.__module__).startswith("weft.")
    }
tf.{name}
before = classes()
load_all()
for name in tf.__all__:
    getattr(tf, name)
after = classes()
for kind, names in before.items():
    new = sorted(name for name in after[kind] - names if not name.startswith("_abc"))
    if new:
        print(kind.__name__, *new)
"""


def run(code: str) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout


def test_what_belongs_to_an_operation_comes_with_it() -> None:
    """Gradients and kernels are declared in its module, or in one that its family imports."""
    pairs = {tuple(line.split()) for line in run(WATCH).splitlines()}
    assert pairs, "lists have gradients of their own"
    for home, module in pairs:
        if not module.startswith(AUTODIFF):
            family = home.rpartition(".")[0]
            assert (
                f"import {module.rpartition('.')[2]}"
                in (ROOT / Path(*family.split(".")) / "__init__.py").read_text()
            ), f"{module} adds to what {home} declares"


@pytest.mark.parametrize("name", ["constant", "ragged.constant", "train.Saver", "data.Dataset"])
def test_classes_are_whole(name: str) -> None:
    """No module that is imported later gives operators to a class that is there already."""
    assert run(COMPARE.replace("{name}", name)) == ""


def test_few_modules_are_imported_before_they_are_used() -> None:
    code = "import sys, weft; print(*sys.modules)"
    loaded = run(code).split()
    assert "numpy" not in loaded and "weft.graph.graph" not in loaded
    code = "import sys, weft as tf; tf.constant(1) + 2; print(*sys.modules)"
    loaded = run(code).split()
    assert "weft.graph.graph" in loaded and "weft.ops.trees.forest_objects" not in loaded
    assert sum(name.startswith("weft.ops.") for name in loaded) < 200


@pytest.mark.parametrize(
    "code",
    [
        "from weft.graph.op_def import raw; print(raw.ResizeBilinear.name)",
        "from weft.graph.op_def import lookup; print(lookup('ResizeBilinear').name)",
        "import weft as tf; print(tf.raw_ops.ResizeBilinear.name)",
        "from weft.graph.op_def import REGISTRY; print(REGISTRY.get('ResizeBilinear').name)",
    ],
)
def test_an_operation_is_found_whatever_is_imported(code: str) -> None:
    assert run(code).strip() == "ResizeBilinear"


def test_an_operation_without_a_place_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "_places", dict)
    looked: list[None] = []
    monkeypatch.setattr(ops, "load_all", lambda: looked.append(None))
    assert "NoSuchOperation" not in REGISTRY and looked == [None]
    assert "NoSuchOperation" not in GRADIENTS and looked == [None]


def test_objects_are_saved_in_a_session_of_keras() -> None:
    code = """
import weft as tf
from weft.lib.train.checkpoint.default_session import get_session
print(tf.train is not None and get_session() is tf.keras.backend.get_session())
"""
    assert run(code).split() == ["True"]


def test_a_gradient_of_ours_cannot_be_taken() -> None:
    """Also where the operation's module was not imported before."""
    code = """
import weft as tf
try:
    tf.RegisterGradient("ResizeBilinear")(print)
except KeyError as error:
    print(error.args[0])
tf.RegisterGradient("MyOwn")(print)
print("weft.ops.trees.forest_objects" in __import__("sys").modules)
"""
    told, all_loaded = run(code).splitlines()
    assert told == "Registering two gradient with name 'ResizeBilinear'!" and all_loaded == "False"


# Eight threads of a new process do the same, each in an order of its own.
AT_ONCE = """
import random, sys, threading
import weft as tf
{names}
sys.setswitchinterval(1e-5)
failed = []
start = threading.Barrier(8)
def thread(seed):
    mine = random.Random(seed).sample(names, len(names))
    start.wait()
    try:
        {use}
    except BaseException as error:
        failed.append(repr(error))
threads = [threading.Thread(target=thread, args=(seed,)) for seed in range(8)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(failed)
"""


def test_threads_may_use_names_at_once() -> None:
    names = (
        'names = ["ragged", *(name for name, (home, _) in tf._HOME.items() if "ragged" in home)]'
    )
    use = """
        for name in mine + random.Random(seed).sample(tf.__all__, 40):
            getattr(tf, name)
        with tf.Graph().as_default(), tf.Session() as session:
            assert session.run(tf.constant(2.0) * 3 + tf.raw_ops.Square(x=2.0)) == 10
"""
    assert run(AT_ONCE.format(names=names, use=use.strip())).strip() == "[]"


def test_threads_may_use_parts_of_contrib_at_once() -> None:
    """Parts import each other, and so do the modules of each."""
    names = 'names = "factorization layers learn losses metrics nn slim".split()'
    use = "[getattr(tf.contrib, name) for name in mine]"
    assert run(AT_ONCE.format(names=names, use=use)).strip() == "[]"


def test_threads_may_ask_for_operations_at_once() -> None:
    """As the first steps of several clients of a server do."""
    names = """
from weft.graph.op_def import REGISTRY
from weft.ops.places import PLACES
names = [n for ops in PLACES.values() for n in ops.split() if "Dataset" in n or "TensorList" in n]
"""
    use = "assert [REGISTRY[name].name for name in mine] == mine"
    assert run(AT_ONCE.format(names=names, use=use)).strip() == "[]"


def test_programs_without_a_name_may_use_names() -> None:
    code = """
exec("import weft as tf; tf.ragged; print(tf.raw_ops.Square.__name__)", {})
exec("tf.contrib.layers; print(tf.add.__name__)", {"tf": __import__("weft"), "__name__": None})
"""
    assert run(code).split() == ["Square", "add"]


def test_a_table_is_whole_when_it_is_listed() -> None:
    """But for the few operations that passes put into graphs."""
    code = "from weft.graph.op_def import REGISTRY as r; print(len(r), len(set(r)), len(dict(r)))"
    public = [name for name in REGISTRY if not name.startswith("_")]
    counts = {int(count) for count in run(code).split()}
    assert len(counts) == 1 and len(public) <= counts.pop() <= len(REGISTRY)


def test_tables_are_dictionaries() -> None:
    table: Registry[int] = Registry(searches=False)
    table["Mine"] = 1
    assert table.has("Mine") and "Mine" in table and table["Mine"] == 1
    assert table.get("Other") is None and table.get("Other", 2) == 2 and not table.has("Other")
    with pytest.raises(KeyError, match="Other"):
        table["Other"]
    assert list(table) == ["Mine"] and dict(table) == {"Mine": 1} and len(table) == 1


def test_every_public_name_is_there() -> None:
    missing = [name for name in tf.__all__ if not hasattr(tf, name)]
    assert missing == []
    with pytest.raises(AttributeError, match="module 'weft' has no attribute 'no_such_name'"):
        tf.no_such_name  # noqa: B018


def test_no_folder_takes_a_public_name() -> None:
    """Python sets the folder's name in the package when something in it is imported."""
    folders = {path.name for path in (ROOT / "weft").iterdir() if path.is_dir()}
    assert folders.isdisjoint(tf.__all__)
