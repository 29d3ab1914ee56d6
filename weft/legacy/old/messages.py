"""Messages whose classes `protoc` generated before 3.20.

Such a `_pb2.py` builds descriptors by hand, which protobuf no longer allows. Everything is also
in the serialized description that the file carries: its imports and this are enough.
"""

from __future__ import annotations

import ast
from typing import Any

from weft.legacy.old import rewriting

_RUNTIME = "__weft_messages__"


def replace_descriptors(tree: ast.Module) -> ast.Module:
    """The tree of a generated file with what today's protobuf can build; others as they are."""
    description = _description(tree)
    if description is None:
        return tree
    imports = [node for node in tree.body if _imports_messages(node)]
    build = rewriting.call(
        "build", description, ast.parse("globals()", mode="eval").body, runtime=_RUNTIME
    )
    new = ast.Module([*imports, ast.Expr(build)], [])
    ast.fix_missing_locations(new)
    rewriting.add_import(new, __name__, _RUNTIME)
    return new


def _description(tree: ast.Module) -> bytes | None:
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Assign) else None
        if isinstance(value, ast.Call) and rewriting.dotted(value.func) == (
            "_descriptor.FileDescriptor"
        ):
            for keyword in value.keywords:
                if keyword.arg == "serialized_pb":
                    return _bytes(keyword.value)
    return None


def _bytes(node: ast.expr) -> bytes:
    """The value of `b'...'`, or of `_b('...')` in files for both Pythons."""
    if isinstance(node, ast.Call):
        node = node.args[0]
    found = ast.literal_eval(node)
    return found.encode("latin1") if isinstance(found, str) else found


def _imports_messages(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Import | ast.ImportFrom | ast.Try):
        return False
    return any(
        isinstance(each, ast.alias) and "_pb2" in f"{each.name} {each.asname or ''}"
        for each in ast.walk(node)
    ) or (isinstance(node, ast.ImportFrom) and (node.module or "").endswith("_pb2"))


def build(description: bytes, namespace: dict[str, Any]) -> None:
    """Fills the namespace of a generated module with the classes of its messages."""
    from google.protobuf import descriptor_pool
    from google.protobuf.internal import builder

    file = descriptor_pool.Default().AddSerializedFile(description)
    namespace["DESCRIPTOR"] = file
    builder.BuildMessageAndEnumDescriptors(file, namespace)
    builder.BuildTopDescriptorsAndMessages(file, namespace["__name__"], namespace)
    if file.services_by_name:
        builder.BuildServices(file, namespace["__name__"], namespace)
