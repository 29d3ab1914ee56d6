"""Imports only point up the layers, and `import weft` stays light."""

from __future__ import annotations

import ast
import functools
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEFT = ROOT / "weft"

# Layer -> the layers just above it; what those may import, it may too. A folder of `FAMILIES` is
# a layer of its own: it may import the families before it.
ABOVE: dict[str, tuple[str, ...]] = {
    "core": (),
    "protos": (),
    "graph": ("core", "protos"),
    "storage": ("core", "protos"),
    "ops": ("graph", "storage"),
    "autodiff": ("ops",),
    "passes": ("ops",),
    "runtime": ("passes",),
    "cluster": ("runtime",),
    "client": ("cluster",),
    "lib": ("client", "autodiff"),
    "api": ("lib",),
    "serve": ("lib",),
    # The package itself, and programs on top of it.
    "": ("api",),
    "legacy": ("",),
    "cli": ("legacy", "serve"),
    "__main__": ("cli",),
}
FAMILIES = {
    "ops": (
        *("kit", "array", "math", "lists", "control", "linalg", "random", "state", "functions"),
        *("nn", "scores", "queues", "strings", "files", "sparse", "parsing", "ragged", "lookup"),
        *("image", "quantized", "trees", "devices", "dataset"),
    ),
    # Keras's layers come with TensorFlow 1's; tests are written with everything but contrib.
    "lib": (
        *("platform", "summary", "train", "ragged", "data", "autograph", "distribute"),
        *("functions", "saved_model", "tools", "keras", "layers", "linalg", "rnn"),
        *(
            "feature_column",
            "signal",
            "distributions",
            "estimator",
            "profiler",
            "testing",
            "contrib",
        ),
    ),
}
# Recursion that is real: (importing module, imported module) -> why.
RECURSION = {
    ("weft.ops.control.cond", "weft.ops.functions.branch_functions"): (
        "in a graph of functions a conditional is a node that calls functions, whose bodies may"
        " hold conditionals"
    ),
    ("weft.ops.control.case", "weft.ops.functions.branch_functions"): (
        "as with conditionals: a choice among functions whose bodies may hold choices"
    ),
    ("weft.ops.control.while_loop", "weft.ops.functions.loop_functions"): (
        "in a graph of functions a loop is a node that calls functions, whose bodies may hold loops"
    ),
}

# The modules whose business is XLA; kernels import jax inside a function.
MAY_IMPORT_JAX = {"runtime/devices/device.py", "runtime/xla/compile.py"}
THIRD_PARTY_IN_CORE = {"numpy", "ml_dtypes"}


def allowed(layer: str) -> set[str]:
    seen: set[str] = set()
    waiting = [layer]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting.extend(ABOVE[current])
    return seen


def layer_of(module: str) -> str:
    """The layer of a module of weft: its folder; `ops.math`, `lib.train` in large ones."""
    parts = module.split(".")[1:]
    if not parts or not ((WEFT / parts[0]).is_dir() or (WEFT / f"{parts[0]}.py").is_file()):
        return ""  # a name of the package itself
    return ".".join(parts[:2]) if parts[0] in FAMILIES and len(parts) > 1 else parts[0]


def may_import(layer: str, reached: str) -> bool:
    """Whether a module of `layer` may import one of `reached`."""
    folder, _, family = layer.partition(".")
    above, _, other = reached.partition(".")
    if folder != above:
        return above in allowed(folder)
    order = FAMILIES.get(folder, ())
    if not family or not other or family == other:
        return True  # inside of one family, or the folder's own `__init__`
    if other not in order:
        return False  # a family that has no place yet comes last
    return family not in order or order.index(other) <= order.index(family)


def statements(tree: ast.AST, depth: int = 0) -> Iterator[tuple[ast.AST, int]]:
    """Import statements and how many functions they are inside of; not those for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, depth
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from statements(node, depth + inside)


def imports(path: Path) -> Iterator[tuple[str, int, int]]:
    """Every module imported in a file: (dotted name, line, depth in functions)."""
    package = path.relative_to(ROOT).parent.parts
    for node, depth in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, depth
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield f"{module}.{alias.name}", node.lineno, depth


def source_files() -> list[Path]:
    return sorted(WEFT.rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def module_named(name: str) -> str:
    """The module that an imported name is, or is in."""
    path = ROOT.joinpath(*name.split("."))
    found = path.is_dir() or path.with_suffix(".py").is_file()
    return name if found else name.rpartition(".")[0]


def test_every_folder_is_a_known_layer() -> None:
    layers = {layer_of(module_of(path)) for path in source_files()}
    assert {layer.partition(".")[0] for layer in layers} <= set(ABOVE)
    listed = {f"{folder}.{each}" for folder in FAMILIES for each in FAMILIES[folder]}
    assert listed <= layers, "no such folder"


def test_imports_only_point_up() -> None:
    """Also those inside of functions."""
    wrong, seen = [], set()
    for path in source_files():
        module = module_of(path)
        for name, line, _ in imports(path):
            if name.split(".")[0] != "weft":
                continue
            reached = module_named(name)
            if may_import(layer_of(module), layer_of(reached)):
                continue
            if (module, reached) in RECURSION:
                seen.add((module, reached))
            else:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(["these imports point down the layers:", *wrong])
    assert seen == set(RECURSION), "no longer needed"


def test_core_knows_only_numpy() -> None:
    known = THIRD_PARTY_IN_CORE | {"weft"} | set(sys.stdlib_module_names)
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in source_files()
        if layer_of(module_of(path)) == "core"
        for name, line, depth in imports(path)
        if depth == 0 and name.split(".")[0] not in known
    ]
    assert not wrong, "\n".join(wrong)


def test_jax_is_imported_late() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in source_files()
        if path.relative_to(WEFT).as_posix() not in MAY_IMPORT_JAX
        for name, line, depth in imports(path)
        if name.split(".")[0] in ("jax", "jaxlib") and depth == 0
    ]
    assert not wrong, "\n".join(["jax is imported with the module, not in a function:", *wrong])


def test_importing_weft_is_light() -> None:
    """`import weft` brings in neither jax nor what only a program's later steps need."""
    heavy = ["jax", "jaxlib", "scipy", "grpc", "PIL", "fsspec", "rich", "tensorboard.main"]
    code = f"import json, sys, weft; print(json.dumps([m for m in {heavy} if m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import weft.core.dtypes", ("weft.core.dtypes", 0)),
        ("def f():\n    from weft.graph import graph", ("weft.graph.graph", 1)),
    ],
)
def test_the_parser_sees_imports(source: str, expected: tuple[str, int], tmp_path: Path) -> None:
    found = [
        (f"{node.module}.{node.names[0].name}", depth)
        if isinstance(node, ast.ImportFrom)
        else (node.names[0].name, depth)
        for node, depth in statements(ast.parse(source))
    ]
    assert found == [expected]
