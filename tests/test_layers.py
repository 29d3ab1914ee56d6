"""Imports only point up the layers, and `import weft` stays light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEFT = ROOT / "weft"

# Layer -> the layers just above it; what those may import, it may too.
ABOVE = {
    "core": (),
    "protos": (),
    "graph": ("core", "protos"),
    "io": ("core", "protos"),
    "ops": ("graph", "io"),
    "autodiff": ("ops",),
    "passes": ("ops",),
    "runtime": ("passes",),
    "cluster": ("runtime",),
    "client": ("cluster",),
}
BUILT_ON_THE_API = (
    "train",
    "data",
    "distribute",
    "functions",
    "autograph",
    "keras",
    "layers",
    "linalg",
    "rnn",
    "feature_column",
    "signal",
    "distributions",
    "saved_model",
    "ragged",
    "estimator",
    "summary",
    "serving",
    "contrib",
    "platform",
    "profiler",
)
ABOVE |= {layer: ("client", "autodiff", *BUILT_ON_THE_API) for layer in BUILT_ON_THE_API}
ABOVE |= {"api": ("client", "autodiff", *BUILT_ON_THE_API)}
# The package itself, and programs on top of it.
ABOVE |= {
    "": ("api",),
    "__main__": ("cli",),
    "cli": ("", "api", "runtime"),
    "python": ("cli",),
    "examples": ("cli",),
}

# The modules whose business is XLA; kernels import jax inside a function.
MAY_IMPORT_JAX = {"runtime/device.py", "runtime/compile.py"}
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


def layer_of(path: Path) -> str:
    parts = path.relative_to(WEFT).parts
    if len(parts) > 1:
        return parts[0]
    return "" if parts[0] == "__init__.py" else path.stem


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


def imported_layer(name: str) -> str | None:
    """The layer that `import name` reaches, or None when it is not weft's."""
    parts = name.split(".")
    if parts[0] != "weft":
        return None
    if len(parts) > 1 and ((WEFT / parts[1]).is_dir() or (WEFT / f"{parts[1]}.py").is_file()):
        return parts[1]
    return ""


def test_every_folder_is_a_known_layer() -> None:
    assert {layer_of(path) for path in source_files()} <= set(ABOVE)


def test_imports_only_point_up() -> None:
    wrong = []
    for path in source_files():
        layer = layer_of(path)
        for name, line, _ in imports(path):
            reached = imported_layer(name)
            if reached is not None and reached not in allowed(layer):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(["these imports point down the layers:", *wrong])


def test_core_knows_only_numpy() -> None:
    known = THIRD_PARTY_IN_CORE | {"weft"} | set(sys.stdlib_module_names)
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in source_files()
        if layer_of(path) == "core"
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
