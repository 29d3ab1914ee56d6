"""Changes the user's code, as it is compiled, where it uses an old name.

Comes in: the tree of a file. Goes out: the same tree, with calls of `lookup` around what the table
may have to say something about; everything else, and every line number, is as it was.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from weft.legacy.old import table
from weft.legacy.old.python2 import signs

RUNTIME = "__weft_old__"
_RUNTIME_MODULE = "weft.legacy.old.lookup"
# Members of these classes are looked up in every file; those of others in files that import them.
_EVERYWHERE = frozenset({*sys.stdlib_module_names, "numpy"})
_SCALAR_FUNCTIONS = frozenset({"float", "int", "complex"})
_COUNTERS = frozenset({"read", "reshape"})
_OPENERS = frozenset({"open", "io.open", "codecs.open"})
# Methods of dictionaries that gave lists.
_LISTS = frozenset({"keys", "values", "items"})
# Functions that take a program's text, and what takes their place.
_COMPILERS = {"exec": "text", "compile": "compiled"}
# Expressions of indices that may be lists.
_MAY_BE_LISTS = (ast.Name, ast.List, ast.ListComp, ast.BinOp)
# Functions that give whole numbers as floats; `divide` is Python 2's quotient.
_ROUNDING = frozenset({"floor", "ceil", "round", "rint", "trunc", "fix", "divide"})
# Expressions that may be arrays, or be compared with them.
_MAY_BE_ARRAYS = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List)
# The integers that fit into every signed type of NumPy's.
_BYTE = range(-128, 128)

Node = TypeVar("Node", bound=ast.AST)


class Imported(ast.NodeVisitor):
    """The names that a file imports: name -> dotted path of what it stands for."""

    def __init__(self, tree: ast.AST) -> None:
        self.paths: dict[str, str] = {}
        self.roots: set[str] = set()
        self.used: set[str] = set()
        self.bound: set[str] = set()
        self.rounded: set[str] = set()  # names of whole numbers that may be floats
        self.has_star = False
        self.visit(tree)

    def visit_Name(self, node: ast.Name) -> None:
        (self.used if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        if _may_be_float(node.value, self.rounded):
            self.rounded.update(each.id for each in node.targets if isinstance(each, ast.Name))
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        self.bound.add(node.arg)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.partition(".")[0]
            self.roots.add(root)
            self.paths[alias.asname or root] = alias.name if alias.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.roots.add(module.partition(".")[0])
        for alias in node.names:
            self.has_star |= alias.name == "*"
            self.paths[alias.asname or alias.name] = f"{module}.{alias.name}"


def rewrite(tree: ast.Module, comparisons: bool = True) -> ast.Module:
    """The tree with its uses of old names looked up in the table, and of old comparisons."""
    rewriter = Rewriter(Imported(tree), signs.gone_builtins(tree), comparisons)
    tree = rewriter.visit(tree)
    if rewriter.changed:
        add_import(tree, _RUNTIME_MODULE, RUNTIME)
    return tree


def add_import(tree: ast.Module, module: str, name: str) -> None:
    """Makes `name` mean `module` in a file: after its docstring and `from __future__`."""
    place = 0
    for place, statement in enumerate([*tree.body, ast.Pass()]):
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (future or (place == 0 and _is_docstring(statement))):
            break
    statement = ast.Import([ast.alias(module, name)])
    line = tree.body[place].lineno if place < len(tree.body) else 1
    statement.lineno = statement.end_lineno = line
    tree.body.insert(place, located(statement, statement))


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def located(node: Node, place: ast.AST) -> Node:
    """`node` and what is new below it, at the place of another node."""
    for each in ast.walk(node):
        if "lineno" in each._attributes and not hasattr(each, "lineno"):
            ast.copy_location(each, place)
        if "lineno" in each._attributes and not hasattr(each, "col_offset"):
            each.col_offset = each.end_col_offset = 0  # type: ignore[attr-defined]
    return node


def call(function: str, *args: Any, runtime: str = RUNTIME) -> ast.Call:
    """The expression `runtime.function(*args)`."""
    nodes = [each if isinstance(each, ast.AST) else ast.Constant(each) for each in args]
    target = ast.Attribute(ast.Name(runtime, ast.Load()), function, ast.Load())
    return ast.Call(target, nodes, [])  # type: ignore[arg-type]


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` of an expression that is made of names alone."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and f"{before}.{node.attr}"
    return None


class Rewriter(ast.NodeTransformer):
    """One pass over a tree."""

    def __init__(self, imported: Imported, gone_builtins: set[str], comparisons: bool) -> None:
        self.imported, self._comparisons = imported, comparisons
        self.changed = False
        self._gone_builtins = gone_builtins
        self._guards = self._name_guards = self._attribute_guards = 0
        self._mentions_numpy = "numpy" in imported.roots
        self._asked: set[ast.Compare] = set()

    def _replaced(self, new: Node, old: ast.AST) -> Node:
        self.changed = True
        return located(new, old)

    def path(self, node: ast.AST) -> str | None:
        """The module, or name of one, that an expression stands for, by the file's imports."""
        written = dotted(node)
        if written is None:
            return None
        first, dot, rest = written.partition(".")
        known = self.imported.paths.get(first)
        if known is None:
            return f"?.{written}" if self.imported.has_star else None
        row = table.MODULES.get(known)
        if row is not None and not row.substitute.startswith(("weft.", "pip ")):
            known = row.substitute or known
        return known + dot + rest

    def _may_be_old(self, holder: ast.AST, name: str) -> bool:
        if name not in table.ATTRIBUTES:
            return False
        for row in table.MEMBERS.get(name, ()):
            root = row.holder.partition(".")[0]
            if root in _EVERYWHERE or root in self.imported.roots:
                return True
        path = self.path(holder)
        if path is None:
            return False
        if path.partition(".")[0] == "tensorflow" and self._attribute_guards:
            return False  # missing in 1.15, for which the program has another way
        if table.concerns(path):
            return (path, name) in table.NAMES or f"{path}.{name}" in table.MODULES
        # A module that came by way of one of the program's own: `from common import np`.
        return path.startswith(("?", ".")) or path.partition(".")[0] not in _EVERYWHERE

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self._gone_builtins or self._name_guards:
            return node
        space = ast.Call(ast.Name("globals", ast.Load()), [], [])
        return self._replaced(call("built_in", node.id, space), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_old = isinstance(node.ctx, ast.Load) and self._may_be_old(node.value, node.attr)
        self.generic_visit(node)
        if is_old:
            node.value = self._replaced(call("having", node.value, node.attr), node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        written = dotted(node.func)
        gets_old = written == "getattr" and len(node.args) == 2 and self._gets_old(*node.args)
        self.generic_visit(node)
        if gets_old:
            holder, name = node.args
            new = call("having", holder, getattr(name, "value", ""))
            node.args[0] = self._replaced(new, holder)
        elif written in _COMPILERS and node.args and not self._is_own(written):
            self._compile_old(node, _COMPILERS[written])
        elif written in _OPENERS:
            node.args[1:2] = [self._mode(each) for each in node.args[1:2]]
        elif self._wants_scalar(written) and len(node.args) == 1:
            node.args = [self._scalar(each) for each in node.args]
        elif self._wants_counts(node.func):
            node.args = [self._scalar(each, "count") for each in node.args]
        return node

    def _scalar(self, value: ast.expr, function: str = "scalar") -> ast.expr:
        if isinstance(value, ast.Constant | ast.Starred | ast.Tuple | ast.List):
            return value
        return self._replaced(call(function, value), value)

    def _wants_counts(self, function: ast.expr) -> bool:
        """Whether a call takes numbers for which arrays of one element were taken, too."""
        name = function.attr if isinstance(function, ast.Attribute) else dotted(function)
        return self._mentions_numpy and name in _COUNTERS

    def _is_own(self, name: str) -> bool:
        """Whether a name of Python's may mean something else in this file."""
        return self.imported.has_star or name in self.imported.bound or name in self.imported.paths

    def _compile_old(self, node: ast.Call, function: str) -> None:
        """A text that is run is the user's code, too."""
        if function == "text":
            node.args[0] = self._replaced(call(function, node.args[0]), node.args[0])
        else:
            node.func = self._replaced(call(function).func, node.func)

    def _gets_old(self, holder: ast.expr, name: ast.expr) -> bool:
        return isinstance(name, ast.Constant) and self._may_be_old(holder, str(name.value))

    def _wants_scalar(self, written: str | None) -> bool:
        if not self._mentions_numpy or written is None:
            return False
        return written in _SCALAR_FUNCTIONS or written.startswith("math.")

    def _mode(self, node: ast.expr) -> ast.expr:
        """The mode of a file without `U`, which Python 3.11 no longer takes."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "U" in node.value:
            return self._replaced(ast.Constant(node.value.replace("U", "") or "r"), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`d.keys()[0]`; a list of slices, in a file that makes slices, was a tuple of them."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and _gave_list(node.value):
            node.value = self._replaced(call("listed", node.value), node.value)
        makes_slices = "slice" in self.imported.used
        if makes_slices and isinstance(node.slice, _MAY_BE_LISTS):
            node.slice = self._replaced(call("index", node.slice), node.slice)
        for each in _slices(node.slice) if self._mentions_numpy else ():
            each.lower, each.upper = self._bound(each.lower), self._bound(each.upper)
        return node

    def _bound(self, value: ast.expr | None) -> ast.expr | None:
        """An end of a slice, which may be a float: that is rounded, or a quotient."""
        if value is None or not _may_be_float(value, self.imported.rounded):
            return value
        return self._replaced(call("bound", value), value)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        form = node.left.value if isinstance(node.left, ast.Constant) else None
        if self._mentions_numpy and isinstance(node.op, ast.Mod) and isinstance(form, str):
            node.right = self._replaced(call("format_values", form, node.right), node.right)
        elif self._mentions_numpy and _is_large(node.left) != _is_large(node.right):
            name = type(node.op).__name__
            return self._replaced(call("arithmetic", name, node.left, node.right), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`rows != []`, of an array, was a question about all of it, as was `if rows == others`."""
        self.generic_visit(node)
        compares = self._comparisons and isinstance(node.ops[0], ast.Eq | ast.NotEq)
        if not (self._mentions_numpy and compares):
            return node
        other = node.comparators[0]
        if len(node.ops) > 1 or not (isinstance(other, ast.List) or node in self._asked):
            return node
        function = "equal" if isinstance(node.ops[0], ast.Eq) else "unequal"
        return self._replaced(call(function, node.left, other), node)

    def _visit_question(self, node: Any) -> ast.AST:
        """A statement or expression that asks whether something is true."""
        self._asked.update(_compared_in(node.test))
        return self.generic_visit(node)

    visit_If = visit_While = visit_IfExp = visit_Assert = _visit_question

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if self._mentions_numpy and len(node.targets) == 1 and isinstance(target, ast.Subscript):
            written = dotted(target.value)
            if written is not None and not isinstance(node.value, ast.Constant):
                holder = ast.parse(written, mode="eval").body
                holder = ast.fix_missing_locations(ast.copy_location(holder, target.value))
                for each in ast.walk(holder):
                    ast.copy_location(each, target.value)
                node.value = self._replaced(call("element", node.value, holder), node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A generator that may raise StopIteration ends by it, as before Python 3.7."""
        ends = _may_end_by_error(node)
        self.generic_visit(node)
        if ends:
            start = 1 if _is_docstring(node.body[0]) else 0
            told = ast.Expr(call("end_generator"))
            handler = ast.ExceptHandler(
                ast.Name("StopIteration", ast.Load()), None, [told, ast.Return()]
            )
            body = ast.Try(node.body[start:] or [ast.Pass()], [handler], [], [])
            node.body[start:] = [self._replaced(body, node.body[-1])]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class of iterators has `next` and not `__next__`."""
        self.generic_visit(node)
        methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        if methods & {"__iter__", "next", "__next__"} == {"__iter__", "next"}:
            node.decorator_list.append(self._replaced(call("iterators").func, node))
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """Programs for both Pythons try the old module first: their own way out is taken."""
        guarded = any(_catches_import_error(each) for each in node.handlers)
        names_guarded = signs.expects_name_error(node)
        attributes_guarded = _expects_attribute_error(node)
        self._guards += guarded
        self._name_guards += names_guarded
        self._attribute_guards += attributes_guarded
        node.body = self._visit_all(node.body)
        self._guards -= guarded
        self._name_guards -= names_guarded
        self._attribute_guards -= attributes_guarded
        for part in ("handlers", "orelse", "finalbody"):
            setattr(node, part, self._visit_all(getattr(node, part)))
        return node

    def _visit_all(self, nodes: Iterable[Any]) -> list[Any]:
        found: list[Any] = []
        for each in nodes:
            new = self.visit(each)
            found += new if isinstance(new, list) else [new]
        return found

    def _is_left_alone(self, module: str) -> bool:
        return not table.concerns(module) or (self._guards > 0 and module in table.PYTHON2_MODULES)

    def visit_Import(self, node: ast.Import) -> Any:
        statements: list[ast.stmt] = []
        for alias in node.names:
            prefixes = alias.name.split(".")
            gone = any(".".join(prefixes[: i + 1]) in table.MODULES for i in range(len(prefixes)))
            if not gone or self._is_left_alone(alias.name):
                statements.append(located(ast.Import([alias]), node))
                continue
            function = "import_module" if alias.asname else "import_root"
            bound = alias.asname or prefixes[0]
            statements.append(self._bind(bound, call(function, alias.name), node))
        return statements if self.changed else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        module = node.module or ""
        if node.level or self._is_left_alone(module):
            return node
        if any(alias.name == "*" for alias in node.names):
            return self._with_old_names(node, module)
        old = [alias for alias in node.names if self._is_old_import(module, alias.name)]
        if not old:
            return node
        statements: list[ast.stmt] = [
            self._bind(alias.asname or alias.name, call("import_from", module, alias.name), node)
            for alias in old
        ]
        rest = [alias for alias in node.names if alias not in old]
        if rest:
            statements.insert(0, located(ast.ImportFrom(module, rest, 0), node))
        return statements

    def _with_old_names(self, node: ast.ImportFrom, module: str) -> list[ast.stmt]:
        """`from numpy import *`, and of the old names those that the file uses."""
        imported: ast.stmt = node
        if module in table.MODULES:
            space = ast.Call(ast.Name("globals", ast.Load()), [], [])
            imported = self._replaced(ast.Expr(call("import_all", space, module)), node)
        names = self.imported.used - self.imported.bound - set(dir(builtins))
        old = sorted(name for name in names if (module, name) in table.NAMES)
        statements: list[ast.stmt] = [
            self._bind(name, call("import_from", module, name), node) for name in old
        ]
        return [imported, *statements]

    def _is_old_import(self, module: str, name: str) -> bool:
        full = f"{module}.{name}"
        return (module, name) in table.NAMES or module in table.MODULES or full in table.MODULES

    def _bind(self, name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
        return self._replaced(ast.Assign([ast.Name(name, ast.Store())], value), place)


def _compared_in(test: ast.AST) -> Iterator[ast.Compare]:
    """The comparisons of which a question is made, of things that may be arrays."""
    if isinstance(test, ast.BoolOp):
        for each in test.values:
            yield from _compared_in(each)
    elif isinstance(test, ast.UnaryOp):
        yield from _compared_in(test.operand)
    elif isinstance(test, ast.Compare):
        if all(isinstance(each, _MAY_BE_ARRAYS) for each in (test.left, *test.comparators)):
            yield test


def _gave_list(node: ast.expr) -> bool:
    """Whether an expression is a call of a method that gave a list."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return isinstance(node.func, ast.Attribute) and node.func.attr in _LISTS


def _slices(node: ast.expr) -> list[ast.Slice]:
    """The slices of an index."""
    several = node.elts if isinstance(node, ast.Tuple) else [node]
    return [each for each in several if isinstance(each, ast.Slice)]


def _may_be_float(node: ast.expr, rounded: set[str]) -> bool:
    """Whether an expression is made of numbers alone, and a quotient or a rounded one is in it."""
    if isinstance(node, ast.BinOp):
        parts = _may_be_float(node.left, rounded) or _may_be_float(node.right, rounded)
        return parts or isinstance(node.op, ast.Div)
    if isinstance(node, ast.UnaryOp):
        return _may_be_float(node.operand, rounded)
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else dotted(function)
        return name in _ROUNDING
    return isinstance(node, ast.Name) and node.id in rounded


def _is_large(node: ast.expr) -> bool:
    """Whether an expression is an integer that not every type of NumPy's can hold."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    value = node.value if isinstance(node, ast.Constant) else None
    return type(value) is int and value not in _BYTE


def _may_end_by_error(function: ast.FunctionDef) -> bool:
    """Whether a function is a generator that raises StopIteration, or calls what may."""
    nodes = list(_own_nodes(function))
    if not any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes):
        return False
    raised = (node.exc for node in nodes if isinstance(node, ast.Raise))
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    return any("StopIteration" in ast.dump(each) for each in raised if each) or any(
        dotted(each) == "next" or (isinstance(each, ast.Attribute) and each.attr == "next")
        for each in called
    )


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes in it."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            yield from _own_nodes(node)


def _expects_attribute_error(node: ast.Try) -> bool:
    """Whether a `try` has another way where a member of a module is missing.

    One that catches everything has it if it does nothing but give names to members.
    """
    caught = [ast.unparse(each.type) if each.type else "Exception" for each in node.handlers]
    if any("AttributeError" in each for each in caught):
        return True
    aliases = all(isinstance(each, ast.Assign) and dotted(each.value) for each in node.body)
    return aliases and any("Exception" in each for each in caught)


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.unparse(handler.type)
    names = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")
    return handler.type is None or any(name in caught for name in names)
