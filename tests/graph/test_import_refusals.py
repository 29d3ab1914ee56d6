"""GraphDefs that make no sense: each is refused as TensorFlow refuses it, or runs as there."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.graph_pb2 import GraphDef

import weft as tf

CONST = (
    'node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }'
    ' attr { key: "value" value { tensor { dtype: DT_FLOAT float_val: 1 tensor_shape {} } } } } '
)
T = 'attr { key: "T" value { type: DT_FLOAT } } '


def negation(attrs: str = T) -> str:
    return CONST + f'node {{ name: "n" op: "Neg" input: "c" {attrs} }}'


REFUSED = {
    "name with a space": (
        'node { name: "a b" op: "NoOp" }', ValueError,
        "Node 'a b': Node name contains invalid characters",
    ),
    "no inputs": ('node { name: "n" op: "Neg" }', ValueError, "do not match 0 inputs"),
    "merge of itself": (
        f'node {{ name: "n" op: "Merge" input: "n" input: "n" {T}'
        ' attr { key: "N" value { i: 2 } } }',
        ValueError, "1 nodes in a cycle",
    ),
    "type that is a number": (
        negation('attr { key: "T" value { i: 5 } }'),
        ValueError, "had value with type 'int' when 'type' expected\n\t for attr 'T'",
    ),
    "type without a value": (
        negation('attr { key: "T" value { } }'),
        ValueError, "missing value with expected type 'type'",
    ),
    "list of another kind": (
        CONST + f'node {{ name: "n" op: "Squeeze" input: "c" {T}'
        ' attr { key: "squeeze_dims" value { list { s: "a" } } } }',
        ValueError, r"type 'list\(string\)' when 'list\(int\)' expected",
    ),
    "colocation that is no text": (
        negation(T + r'attr { key: "_class" value { list { s: "loc:@\377" } } }'),
        ValueError, "UnicodeDecodeError",
    ),
    "exit without enter": (
        CONST + f'node {{ name: "n" op: "Exit" input: "c" {T} }}',
        tf.errors.InvalidArgumentError, "Cannot find a corresponding Enter op",
    ),
}  # fmt: skip


def run(text: str) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(text_format.Parse(text, GraphDef()), name="")
        return session.run("n:0")


@pytest.mark.parametrize("text, kind, message", REFUSED.values(), ids=REFUSED)
def test_refused(text: str, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        run(text)


def test_a_class_that_is_no_colocation_means_nothing() -> None:
    assert run(negation(T + 'attr { key: "_class" value { list { s: "zzzzzzz" } } }')) == -1


def nested_functions(depth: int) -> str:
    signature = 'input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT }'
    functions = "".join(
        f' function {{ signature {{ name: "f{i}" {signature} }} node_def {{ name: "n"'
        f' op: "{f"f{i - 1}" if i else "Neg"}" input: "x" {"" if i else T} }}'
        ' ret { key: "y" value: "n:y:0" } } '
        for i in range(depth)
    )
    call = f'node {{ name: "n" op: "f{depth - 1}" input: "c" }}'
    return f"library {{ {functions} }} {CONST} {call}"


def test_functions_within_functions() -> None:
    assert run(nested_functions(20)) == -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="nested too deeply"):
        run(nested_functions(3000))
