"""Python 2's meaning on the tree of a translated file.

Comes in: a tree that Python 3 can parse, from a Python 2 file. Goes out: a tree that does what
Python 2 would: whole numbers divided give whole numbers, `map` gives a list, `import utils` finds
the neighbour in the package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from weft.legacy.old.python2 import runtime
from weft.legacy.old.python2.statements import RUNTIME, tuple_pattern
from weft.legacy.old.rewriting import Imported, add_import, call, dotted, located

_SLICES = {"__getslice__", "__setslice__", "__delslice__"}
_AS_TEXT = "__str__ of bytes"
_DECORATED = frozenset({"__cmp__", "__eq__", _AS_TEXT, *_SLICES, *runtime.METHODS})
# Functions that are others in Python 2.
_FUNCTIONS = {
    "math.floor": "floor",
    "math.ceil": "ceil",
    "csv.reader": "csv_reader",
    "csv.DictReader": "csv_dict_reader",
    "gzip.open": "gzip_open",
    "gzip.GzipFile": "GzipFile",
    "zipfile.ZipFile": "ZipFile",
    "subprocess.Popen": "Popen",
}
# Functions that give files, whose bytes are strings.
_GIVE_FILES = frozenset(
    {
        "tempfile.NamedTemporaryFile",
        "tempfile.TemporaryFile",
        "urllib.urlopen",
        "urllib2.urlopen",
    }
)
# Functions of strings, which are bytes or text today.
_OF_BYTES = frozenset(
    f"{module}.{name}"
    for module, names in {
        "zlib": "compress decompress crc32 adler32",
        "base64": "b64encode b64decode encodestring decodestring encodebytes decodebytes",
        "binascii": "hexlify unhexlify b2a_hex a2b_hex crc32",
        "struct": "pack unpack unpack_from",
        "cPickle": "dumps",
        "pickle": "dumps",
        "marshal": "dumps loads",
        "subprocess": "check_output",
    }.items()
    for name in names.split()
)
_OF_TEXT = frozenset(
    f"re.{name}" for name in "match search findall finditer split sub subn".split()
) | {"sys.stdout.write", "sys.stderr.write"}
# What functions had under other names, and could be given.
_NAMES_OF_FUNCTIONS = {
    f"func_{name}": f"__{name}__" for name in ("name", "doc", "defaults", "dict")
}
# Methods of strings and lists that take other arguments today.
_METHODS = frozenset({"join", "sort", "translate"})
_LISTS = frozenset({"keys", "values", "items"})


def keep_meaning(tree: ast.Module) -> ast.Module:
    """The tree with Python 2's meaning."""
    futures = {
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        for alias in node.names
    }
    new: ast.Module = _Meaning(futures, _bound(tree), Imported(tree)).visit(tree)
    add_import(new, runtime.__name__, RUNTIME)
    return new


def _bound(scope: ast.AST) -> set[str]:
    """The names that a file, a class or a function gives a meaning of its own, for all within."""
    found: set[str] = set()
    for node in _own_nodes(scope):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Global):
            found.update(node.names)
    return found


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope; of functions and classes in it, only that they are there."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(node)


class _Meaning(ast.NodeTransformer):
    def __init__(self, futures: set[str], bound: set[str], imported: Imported) -> None:
        self._paths = {
            name: path for name, path in imported.paths.items() if name not in imported.bound
        }
        self._divides_whole = "division" not in futures
        self._finds_neighbours = "absolute_import" not in futures
        self._builtins = runtime.BUILTINS.keys() - bound  # where the visit is
        self._number = 0

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self._builtins:
            return located(_of_runtime(runtime.BUILTINS[node.id]), node)
        return self._substitute(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Store):
            node.attr = _NAMES_OF_FUNCTIONS.get(node.attr, node.attr)
        return self._substitute(node)

    def _substitute(self, node: ast.Name | ast.Attribute) -> ast.AST:
        """What stands for a function of a module that is another in Python 2."""
        first, _, rest = (dotted(node) or "").partition(".")
        path = f"{self._paths.get(first, '')}.{rest}".rstrip(".")
        if not isinstance(node.ctx, ast.Load):
            return node
        if path in _FUNCTIONS:
            return located(_of_runtime(_FUNCTIONS[path]), node)
        kinds = {"with_strings": _OF_BYTES, "with_text": _OF_TEXT, "giving_files": _GIVE_FILES}
        for kind, paths in kinds.items():
            if path in paths:
                return located(call(kind, node, runtime=RUNTIME), node)
        return node

    def _visit_inside(self, node: ast.AST) -> None:
        """What is in a function, whose own names hide built-in ones."""
        outside = self._builtins
        self._builtins = outside - _bound(node)
        self.generic_visit(node)
        self._builtins = outside

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop over `range` needs no list."""
        keeps = _is_call_of(node.iter, "range") and "range" in self._builtins
        self.generic_visit(node)
        if keeps and isinstance(node.iter, ast.Call):
            node.iter.func = located(ast.Name("range", ast.Load()), node.iter.func)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div) and self._divides_whole:
            return located(call("divide", node.left, node.right, runtime=RUNTIME), node)
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            node.right = located(call("as_text", node.right, runtime=RUNTIME), node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a[i] /= b`: the target is evaluated once."""
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or not self._divides_whole:
            return node
        read, target = self._read_and_target(node.target)
        value = call("divide_in_place", read, node.value, runtime=RUNTIME)
        return located(ast.Assign([target], value), node)

    def _read_and_target(self, target: Any) -> tuple[ast.expr, ast.expr]:
        if isinstance(target, ast.Name):
            return ast.Name(target.id, ast.Load()), target
        kept, again = self._kept(target.value)
        if isinstance(target, ast.Attribute):
            read: ast.expr = ast.Attribute(kept, target.attr, ast.Load())
            return read, ast.Attribute(again, target.attr, ast.Store())
        if any(isinstance(each, ast.Slice) for each in ast.walk(target.slice)):
            index = index_again = target.slice
        else:
            index, index_again = self._kept(target.slice)
        read = ast.Subscript(kept, index, ast.Load())
        return read, ast.Subscript(again, index_again, ast.Store())

    def _kept(self, value: ast.expr) -> tuple[ast.expr, ast.expr]:
        """(an expression that keeps its value under a name, that name)."""
        self._number += 1
        name = f"{RUNTIME}{self._number}"
        return ast.NamedExpr(ast.Name(name, ast.Store()), value), ast.Name(name, ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name):
            return self._of_built_in(node, function.id)
        if isinstance(function, ast.Attribute):
            if function.attr in _LISTS and not node.args and not node.keywords:
                return located(call("as_list", node, runtime=RUNTIME), node)
            if function.attr in _METHODS and not self._is_imported(function):
                return located(_call_with(node, function.attr, function.value), node)
            if function.attr == "encode" and node.args:
                return located(_call_with(node, "encode", function.value), node)
            if function.attr == "decode":
                return located(_call_with(node, "decode", function.value), node)
            if function.attr == "next" and not node.args and not node.keywords:
                return located(call("next_", function.value, runtime=RUNTIME), node)
        return node

    def _is_imported(self, node: ast.Attribute) -> bool:
        """Whether a name is taken of a module: `string.join`, `os.path.join`."""
        return (dotted(node) or "").partition(".")[0] in self._paths

    def _of_built_in(self, node: ast.Call, name: str) -> ast.AST:
        """Calls that ask for the kind of a string, or make bytes of one."""
        if name == "isinstance" and len(node.args) == 2 and _mentions(node.args[1], "str"):
            return located(_call_of(node, "is_instance"), node)
        if name in ("bytes", "bytearray") and len(node.args) == 1:
            node.args = [located(call("bytes_of", node.args[0], runtime=RUNTIME), node)]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Order of unlike things, `None < 1`, is Python 2's; so is the type of a string."""
        if _is_call_of(node.left, "type") and any(_mentions(x, "str") for x in node.comparators):
            node.left = located(_call_of(node.left, "type_of"), node.left)
        self.generic_visit(node)
        ordered = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
        if len(node.ops) == 1 and isinstance(node.ops[0], ordered):
            left, right = node.left, node.comparators[0]
            if isinstance(left, ast.Constant) and left.value is None:
                node.left = located(call("least", runtime=RUNTIME), left)
            if isinstance(right, ast.Constant) and right.value is None:
                node.comparators = [located(call("least", runtime=RUNTIME), right)]
        return node

    def visit_Import(self, node: ast.Import) -> Any:
        if not self._finds_neighbours:
            return node
        statements: list[ast.stmt] = []
        for alias in node.names:
            known = call("import_neighbour", alias.name, _globals(), runtime=RUNTIME)
            bound = alias.asname or alias.name.partition(".")[0]
            neighbour = ast.Assign([ast.Name(bound, ast.Store())], known)
            test = call("is_neighbour", alias.name, _globals(), runtime=RUNTIME)
            if alias.asname and "." in alias.name:
                known.func.attr = "import_neighbour_below"  # type: ignore[attr-defined]
            statements.append(located(ast.If(test, [neighbour], [ast.Import([alias])]), node))
        return statements

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.level or not self._finds_neighbours or node.module == "__future__":
            return node
        test = call("is_neighbour", node.module, _globals(), runtime=RUNTIME)
        neighbour = ast.ImportFrom(node.module, node.names, 1)
        return located(ast.If(test, [neighbour], [node]), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self._visit_inside(node)
        unpacked = [
            located(ast.parse(f"{pattern} = {arg.arg}").body[0], node)
            for arg in node.args.args
            if (pattern := tuple_pattern(arg.arg)) is not None
        ]
        for statement in unpacked:
            _move(statement, node)
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        node.body[start:start] = unpacked
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """`except OSError, (number, text)`: the arguments of the error; `error.message`."""
        self.generic_visit(node)
        if node.name is not None:
            node.body = [_Message(node.name).visit(statement) for statement in node.body]
        pattern = tuple_pattern(node.name or "")
        if pattern is not None:
            statement = ast.parse(f"{pattern} = {node.name}.args").body[0]
            _move(statement, node)
            node.body.insert(0, statement)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._visit_inside(node)
        for arg in node.args.args:
            pattern = tuple_pattern(arg.arg)
            if pattern is not None:
                node.body = _Parts(arg.arg, pattern).visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        names: set[str] = set()
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef):
                names.add(statement.name if not _gives_bytes(statement) else _AS_TEXT)
            elif isinstance(statement, ast.Assign):
                names |= {each.id for each in statement.targets if isinstance(each, ast.Name)}
                if "__metaclass__" in names and not _has_keyword(node, "metaclass"):
                    node.keywords.append(ast.keyword("metaclass", statement.value))
        if names & _DECORATED:
            node.decorator_list.append(_of_runtime("completed"))
        return located(node, node)


class _Message(ast.NodeTransformer):
    """`error.message`, which exceptions had."""

    def __init__(self, error: str) -> None:
        self._error = error

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        is_read = isinstance(node.ctx, ast.Load) and dotted(node) == f"{self._error}.message"
        return located(call("message", node.value, runtime=RUNTIME), node) if is_read else node


class _Parts(ast.NodeTransformer):
    """The names of a pattern, in an expression, as parts of the parameter it stands for."""

    def __init__(self, parameter: str, pattern: str) -> None:
        self._parts: dict[str, ast.expr] = {}
        self._add(ast.parse(pattern, mode="eval").body, ast.Name(parameter, ast.Load()))

    def _add(self, pattern: ast.expr, value: ast.expr) -> None:
        if isinstance(pattern, ast.Name):
            self._parts[pattern.id] = value
        for i, each in enumerate(getattr(pattern, "elts", ())):
            self._add(each, ast.Subscript(value, ast.Constant(i), ast.Load()))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        part = self._parts.get(node.id)
        if part is None:
            return node
        new = ast.parse(ast.unparse(part), mode="eval").body
        _move(new, node)
        return new


def _move(tree: ast.AST, place: ast.AST) -> None:
    for each in ast.walk(tree):
        if "lineno" in each._attributes:
            ast.copy_location(each, place)


def _gives_bytes(function: ast.FunctionDef) -> bool:
    """Whether what an object shows itself as is encoded: `return unicode(self).encode("utf-8")`."""
    names = {each.attr for each in ast.walk(function) if isinstance(each, ast.Attribute)}
    return function.name in ("__str__", "__repr__") and "encode" in names


def _is_call_of(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))


def _of_runtime(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())


def _call_of(node: Any, function: str) -> ast.Call:
    return call(function, *node.args, runtime=RUNTIME)


def _has_keyword(node: ast.Call | ast.ClassDef, name: str) -> bool:
    return any(keyword.arg == name for keyword in node.keywords)


def _call_with(node: ast.Call, function: str, holder: ast.expr) -> ast.Call:
    new = call(function, holder, *node.args, runtime=RUNTIME)
    new.keywords = node.keywords
    return new


def _globals() -> ast.expr:
    return ast.Name("__name__", ast.Load())
