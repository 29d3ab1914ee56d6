"""Operations that have a signature only: tests of how graphs are built are written with them.

TensorFlow's library has them for its own tests. A graph may hold them, but nothing can run them.
"""

from __future__ import annotations

from weft.graph.graph import PRODUCER_VERSION
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext

# name: inputs -> outputs | attributes
_SIGNATURES = """
None: ->
A: -> out: float
B: -> out: float
IntOutput: -> a: int32
Int64Output: -> out: int64
RefOutput: -> a: ref(int32)
FloatOutput: -> a: float
TwoFloatOutputs: -> a: float, b: float
FiveFloatOutputs: -> a: float, b: float, c: float, d: float, e: float
RefOutputFloatOutput: -> a: ref(float), b: float
RefInputFloatInput: a: ref(float), b: float ->
IntInput: a: int32 ->
IntInputIntOutput: a: int32 -> b: int32
FloatInput: a: float ->
TwoIntOutputs: -> a: int32, b: int32
IntOutputFloatOutput: -> a: int32, b: float
FloatOutputStringOutput: -> a: float, b: string
TwoIntInputs: a: int32, b: int32 ->
TwoFloatInputs: a: float, b: float ->
IntInputFloatInput: a: int32, b: float ->
RefInputIntInput: a: ref(int32), b: int32 ->
TwoFloatInputsFloatOutput: a: float, b: float -> c: float
TwoFloatInputsIntOutput: a: float, b: float -> c: int32
RefInputFloatInputIntOutput: a: ref(float), b: float -> c: int32
Foo1: a: float, b: int32, c: int32 -> d: float, e: int32
Foo2: a: float, b: string, c: string -> d: float, e: int32
Foo3: a: float, b: string, c: float -> d: float, e: int32
ListInput: a: N * T -> | N: int >= 1, T: type
ListOutput: -> a: list(T) | T: list(type) >= 1
Unary: a: T -> b: T | T: type
CopyOp: a: T -> b: T | T: type
OpWithDefaultAttr: -> a: int32 | default_float: float = 123.0
OpWithFutureDefaultAttr: ->
IntAttr: -> out: int64 | foo: int = 1
Simple: a: int32 -> out: float
OutT: -> a: T | T: type
"""

NAMES: list[str] = []


def _declare(line: str) -> None:
    name, _, rest = line.partition(": ") if ": " in line else (line.split(":")[0], "", "->")
    arguments, _, attrs = rest.partition("|")
    inputs, _, outputs = arguments.partition("->")
    op(name, inputs=inputs.strip(), outputs=outputs.strip(), attrs=attrs.strip())(None)
    NAMES.append(name)


for _line in _SIGNATURES.strip().splitlines():
    _declare(_line)


def _of_an_older_graph(c: ShapeContext) -> Dims:
    if c.op.graph.graph_def_versions.producer != PRODUCER_VERSION - 1:
        raise ValueError("Wrong graph version for shape")
    return ()


op("RequiresOlderGraphVersion", outputs="version: int32", stateful=True,
   shape=_of_an_older_graph)(None)  # fmt: skip
NAMES.append("RequiresOlderGraphVersion")
