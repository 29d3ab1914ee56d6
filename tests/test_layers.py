"""Imports only point up the layers, and `import weft` stays light."""

from __future__ import annotations

import ast
import functools
import itertools
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
    "passes": ("autodiff",),
    "runtime": ("passes",),
    "cluster": ("runtime",),
    "client": ("cluster",),
    "lib": ("client", "autodiff"),
    "api": ("lib",),
    "traces": ("client",),
    "pages": ("traces", "lib"),
    "serve": ("pages",),
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
            "debug",
            "testing",
            "contrib",
            "horovod",
        ),
    ),
}
# Recursion that is real, by an import inside a function: why, and from which module to which.
RECURSION = {
    "a loop or a branch is a node that holds plans, whose nodes may be loops and branches": (
        "runtime.control_flow -> runtime.plan",
        "runtime.host.interpret -> runtime.control_flow",
    ),
    "a node calls a function, whose body is a plan": (
        "runtime.host.interpret -> runtime.functions",
    ),
    "the interpreter compiles a node that only XLA can run, from its own resources": (
        "runtime.host.interpret -> runtime.xla.compile",
        "runtime.resources -> runtime.xla.compile",
    ),
    "a graph that does not fold as a whole is folded in pieces, each as a whole": (
        "passes.control_flow.fold -> passes.control_flow.fold_each",
    ),
    "the gradient of a call, a loop or a branch is the gradient of a body": (
        "autodiff.call_gradient -> autodiff.gradients",
        "autodiff.functions -> autodiff.gradients",
    ),
    "a constant may be given as the message that it is written as": (
        "graph.constant -> graph.tensor_proto",
    ),
    "methods of TensorFlow's graphs, operations and tensors do what modules above them do": (
        "graph.graph -> graph.apply",
        "graph.graph -> graph.attr_kinds",
        "graph.graph -> graph.function",
        "graph.graph -> graph.graph_def",
        "graph.operation -> graph.graph_def",
        "graph.scopes -> graph.graph_def",
        "graph.slices -> graph.constant_value",
        "graph.slices -> graph.type_spec",
        "graph.stacks -> graph.graph",
        "graph.tensor -> graph.constant_value",
        "graph.tensor -> graph.stacks",
    ),
    "a graph holds functions, attributes name them, and a function holds a graph": (
        "graph.attr_values -> graph.graph_def",
        "graph.function_def -> graph.importer",
        "graph.graph_def -> graph.function",
    ),
    "a shape follows from values, and a constant value from shapes": (
        "graph.shape_fn -> graph.constant_value",
    ),
    "a value may be made of tensors, each converted": ("graph.convert -> graph.slices",),
    "calling the class `Variable` makes one of its subclasses": (
        "ops.state.variables -> ops.state.ref_variable",
        "ops.state.variables -> ops.state.resource_variable",
        "ops.state.variables -> ops.state.variable_creators",
    ),
    "calling the class `TensorArray` makes one of its forms": (
        "ops.lists.tensor_array -> ops.lists.eager_array",
        "ops.lists.tensor_array -> ops.lists.tensor_list_array",
    ),
    "an assertion is a conditional, and a conditional asserts": (
        "ops.control.control -> ops.control.cond",
    ),
    "elements repeat by a mask, and masks repeat elements": (
        "ops.array.repeat -> ops.array.one_hot_search",
    ),
    "the config of a model names layers, and that of a layer may hold models": (
        "lib.keras.engine.network -> lib.keras.layers.serialization",
        "lib.keras.engine.network_saving -> lib.keras.saving.save",
        "lib.keras.engine.network_saving -> lib.keras.saving.weights",
        "lib.keras.engine.sequential -> lib.keras.layers.serialization",
        "lib.keras.layers.serialization -> lib.keras.engine.network",
        "lib.keras.layers.serialization -> lib.keras.engine.sequential",
        "lib.keras.layers.serialization -> lib.keras.engine.training",
        "lib.keras.layers.serialization -> lib.keras.layers.bidirectional",
        "lib.keras.layers.serialization -> lib.keras.layers.convolutional_recurrent",
        "lib.keras.layers.serialization -> lib.keras.layers.cudnn_recurrent",
        "lib.keras.layers.serialization -> lib.keras.layers.recurrent",
        "lib.keras.layers.serialization -> lib.keras.layers.recurrent_v1",
        "lib.keras.layers.serialization -> lib.keras.layers.recurrent_v2",
        "lib.keras.layers.serialization -> lib.keras.layers.wrappers",
        "lib.keras.layers.wrappers -> lib.keras.layers.serialization",
        "lib.keras.saving.model_config -> lib.keras.layers.serialization",
    ),
    "a metric is a layer, and a layer has metrics; so with operations as layers": (
        "lib.keras.engine.history -> lib.keras.engine.tf_op_layer",
        "lib.keras.engine.layer_losses -> lib.keras.metrics",
    ),
    "calling the class of functions in eager mode makes the eager one": (
        "lib.keras.backend.function -> lib.keras.backend.eager_function",
    ),
    "methods of datasets make datasets": (
        "lib.data.dataset -> lib.data.batches",
        "lib.data.dataset -> lib.data.calls",
        "lib.data.dataset -> lib.data.dataset_spec",
        "lib.data.dataset -> lib.data.generator",
        "lib.data.dataset -> lib.data.make_iterator",
        "lib.data.dataset -> lib.data.readers",
        "lib.data.dataset -> lib.data.reduction",
        "lib.data.dataset -> lib.data.sources",
        "lib.data.dataset -> lib.data.transform",
        "lib.data.readers -> lib.data.experimental_calls",
    ),
    "columns are made of columns, in configs too": (
        "lib.feature_column.configs -> lib.feature_column.serialization",
    ),
    "converted code calls what converts the code it calls": (
        "lib.autograph.builtin_functions -> lib.autograph.calls",
        "lib.autograph.compile -> lib.autograph.operators",
    ),
    "where no strategy is chosen, one is in force": (
        "lib.distribute.context -> lib.distribute.default",
    ),
    "a ragged tensor is made of ragged tensors": (
        "lib.ragged.gather -> lib.ragged.array",
        "lib.ragged.partition -> lib.ragged.tensor",
        "lib.ragged.spec -> lib.ragged.tensor",
    ),
    "a file of transforms fills the table that they are looked up in": (
        "lib.tools.transforms -> lib.tools.constant_transforms",
        "lib.tools.transforms -> lib.tools.node_transforms",
    ),
    "a SavedModel of the second version may hold one of the first": (
        "lib.saved_model.load -> lib.saved_model.load_v1",
    ),
    "an old program imports old programs": (
        "legacy.old.loading -> legacy.old.pytest_files",
        "legacy.old.python2.runtime -> legacy.old.loading",
        "legacy.old.python2.translation -> legacy.old.python2.meaning",
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


# Where statements have statements inside, or what has them inside.
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(tree: ast.AST, depth: int = 0) -> Iterator[tuple[ast.AST, int]]:
    """Import statements and how many functions they are inside of; not those for types alone."""
    for node in itertools.chain.from_iterable(getattr(tree, field, ()) for field in BLOCKS):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, depth
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from statements(node, depth + inside)


@functools.cache
def imports(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Every module imported in a file: (dotted name, line, depth in functions)."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int, int]]:
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
    wrong = []
    for path in source_files():
        module = module_of(path)
        for name, line, _ in imports(path):
            if name.split(".")[0] == "weft":
                if not may_import(layer_of(module), layer_of(module_named(name))):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(["these imports point down the layers:", *wrong])


@functools.cache
def edges() -> dict[str, dict[str, int]]:
    """Module -> the modules that it imports, and the least depth in functions of that."""
    found: dict[str, dict[str, int]] = {module_of(path): {} for path in source_files()}
    for path in source_files():
        module = module_of(path)
        for name, _, depth in imports(path):
            reached = module_named(name)
            if reached in found and reached != module:
                known = found[module].setdefault(reached, depth)
                found[module][reached] = min(depth, known)
    return found


def reaches(graph: dict[str, dict[str, int]], start: str) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        new = graph[waiting.pop()].keys() - seen
        seen |= new
        waiting.extend(new)
    return seen


def without_ends(graph: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The part of the graph that is on the way of circles."""
    left = set(graph)
    while ends := {each for each in left if left.isdisjoint(graph[each])}:
        left -= ends
    return {each: {to: graph[each][to] for to in left & graph[each].keys()} for each in left}


def test_modules_import_each_other_only_where_recursion_is_real() -> None:
    """An import inside a function that closes a circle is listed with its reason."""
    graph = without_ends(edges())
    reached = functools.cache(functools.partial(reaches, graph))
    circles = {
        f"{module} -> {other}".replace("weft.", "")
        for module, others in graph.items()
        for other, depth in others.items()
        if depth and module in reached(other)
    }
    listed = [each for pairs in RECURSION.values() for each in pairs]
    assert len(listed) == len(set(listed)), "twice"
    assert circles - set(listed) == set(), "these close a circle"
    assert set(listed) - circles == set(), "no longer needed"


def test_packages_never_import_each_other() -> None:
    graph = edges()
    between: dict[str, dict[str, int]] = {layer_of(module): {} for module in graph}
    for module, others in graph.items():
        for other in others:
            if layer_of(module) != layer_of(other):
                between[layer_of(module)][layer_of(other)] = 0
    circles = [
        f"{layer} and {other}"
        for layer, others in between.items()
        for other in others
        if layer in reaches(between, other)
    ]
    assert not circles, circles


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
