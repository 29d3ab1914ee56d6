"""The signature language, the registry, and what calling an op checks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.core.errors import NotFoundError
from weft.graph import shape_fn as s
from weft.graph.graph_def import op_def_proto
from weft.graph.op_def import (
    GRADIENTS,
    REGISTRY,
    FuncRef,
    OpDef,
    lookup,
    op,
    raw,
    register_gradient,
    signature,
)
from weft.graph.traits import COMMUTATIVE, HOST, NO_GRADIENT, STATEFUL, Traits, draws

_DRAWS = draws(lambda dims, attrs: 1)


@pytest.fixture(autouse=True)
def registry_as_it_was() -> Iterator[None]:
    ops, gradients = dict(REGISTRY), dict(GRADIENTS)
    yield
    for registry, saved in ((REGISTRY, ops), (GRADIENTS, gradients)):
        registry.clear()
        registry.update(saved)  # type: ignore[arg-type]


def declare(name: str, inputs: str = "", outputs: str = "", attrs: str = "", **more: Any) -> OpDef:
    names = [part.split(":")[0].strip() for part in inputs.split(",") if part.strip()]
    kernel = eval(f"lambda {', '.join(['xp', *names])}: None")
    more.setdefault("shape", lambda c: [None] * c.num_outputs)
    return op(name, inputs=inputs, outputs=outputs, attrs=attrs, **more)(kernel)


# ---- the signature language -------------------------------------------------------------------


@pytest.mark.parametrize(
    "inputs, outputs, attrs, shown",
    [
        ("", "", "", "Test() -> ()"),
        ("a: int32", "b: float", "", "Test(a: DT_INT32) -> (b: DT_FLOAT)"),
        ("a: half, b: double", "c: string", "",
         "Test(a: DT_HALF, b: DT_DOUBLE) -> (c: DT_STRING)"),
        ("a: T", "b: T", "T: type", "Test(a: T) -> (b: T) | T: type"),
        ("a: ref(T)", "b: ref(T)", "T: type", "Test(a: Ref(T)) -> (b: Ref(T)) | T: type"),
        ("a: N * T", "b: T", "N: int >= 2, T: type",
         "Test(a: N*T) -> (b: T) | N: int >= 2; T: type"),
        ("a: list(T)", "b: T", "T: list(type) >= 1",
         "Test(a: list(T)) -> (b: list(T)) | T: list(type) >= 1"),
        ("a: T", "", "T: {int32, float} = float",
         "Test(a: T) -> () | T: type in {DT_INT32, DT_FLOAT} = DT_FLOAT"),
        ("", "", 'p: {"SAME", "VALID"} = "SAME"',
         'Test() -> () | p: string in {"SAME", "VALID"} = "SAME"'),
        ("", "", "i: int = 3, f: float = 1e-05, b: bool = true",
         "Test() -> () | b: bool = true; f: float = 1e-05; i: int = 3"),
        ("", "", "l: list(int) = [1, 2], e: list(string) = []",
         "Test() -> () | e: list(string) = []; l: list(int) = [1, 2]"),
        ("", "", 's: string = "a, b: c"', 'Test() -> () | s: string = "a, b: c"'),
    ],
)  # fmt: skip
def test_signatures(inputs: str, outputs: str, attrs: str, shown: str) -> None:
    assert signature(OpDef("Test", inputs, outputs, attrs)) == shown


def test_parameters_come_in_tensorflows_order() -> None:
    definition = OpDef("Test", "x: T, y: int32", "z: T", "a: int = 1, T: type, b: string")
    assert definition.params == ["x", "y", "b", "a"]  # inputs, attrs without and with default
    assert definition.inferred_attrs == {"T"}


def test_shape_and_function_attrs() -> None:
    definition = OpDef("Test", "", "", "s: shape = [2, ?], u: shape = unknown, f: func")
    assert definition.attrs["s"].default == (2, None)
    assert definition.attrs["u"].default is None and definition.attrs["u"].has_default
    assert definition.attrs["f"].kind == "func" and not definition.attrs["f"].has_default


@pytest.mark.parametrize(
    "inputs, attrs, message",
    [
        ("a: nonsense", "", "nonsense"),
        ("a: N * T", "T: type", "unknown attr 'N'"),
        ("a: list(T)", "", "unknown attr 'T'"),
        ("", "a: nonsense", "unknown kind 'nonsense'"),
        ("", "a", "cannot parse attr 'a'"),
    ],
)
def test_signatures_that_do_not_parse(inputs: str, attrs: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        OpDef("Test", inputs, "", attrs)


def test_op_def_message() -> None:
    definition = declare(
        "Test", "a: ref(T), b: N * int32", "c: T", "T: {int32, float} = float, N: int >= 1",
        traits=STATEFUL | COMMUTATIVE,
    )  # fmt: skip
    message = op_def_proto(definition)
    a, b = message.input_arg
    assert a.is_ref and a.type_attr == "T" and b.number_attr == "N" and b.type == 3
    kind, count = sorted(message.attr, key=lambda attr: attr.name != "T")
    assert list(kind.allowed_values.list.type) == [3, 1] and kind.default_value.type == 1
    assert count.has_minimum and count.minimum == 1
    assert message.is_stateful and message.is_commutative and not message.is_aggregate


# ---- the registry -----------------------------------------------------------------------------


def test_registry() -> None:
    definition = declare("Test", "x: float", "y: float")
    assert lookup("Test") is definition is raw.Test
    assert "Test" in dir(raw)
    with pytest.raises(ValueError, match="op Test is declared twice"):
        declare("Test")


def test_look_up_names_the_closest() -> None:
    with pytest.raises(NotFoundError, match="'MatMull'; did you mean 'MatMul'"):
        lookup("MatMull")
    with pytest.raises(AttributeError, match="has no attribute 'NoSuchOp'"):
        _ = raw.NoSuchOp


def test_kernels_must_fit_the_signature() -> None:
    with pytest.raises(TypeError, match="first parameter must be xp"):
        op("Test", inputs="x: float")(lambda x: x)
    with pytest.raises(TypeError, match=r"kernel takes \['y'\], the signature says \['x'\]"):
        op("Test", inputs="x: float")(lambda xp, y: y)

    def wants_more(xp: Any, x: Any, *, axis: int) -> Any:
        return x

    with pytest.raises(TypeError, match="wants attr 'axis', which is not declared"):
        op("Test", inputs="x: float")(wants_more)
    with pytest.raises(ValueError, match="static inputs \\['y'\\] are not inputs"):
        op("Test", inputs="x: float", static="y")(lambda xp, x: x)
    assert "Test" not in REGISTRY


def test_a_declaration_is_read_when_it_is_used() -> None:
    with flags.CHECK.override(False):
        definition = OpDef("Test", "x: T, n: int32", "y: T", "T: type", static="n", kernel=_second)
        wrong = OpDef("Test", "x: T", "y: T", "T: type", kernel=_second)
    assert definition.name == "Test" and definition.known == {"n"}
    assert "params" not in vars(definition)
    assert definition.params == ["x", "n"] and "params" in vars(definition)
    assert definition.traceable and definition.single_output and not definition.takes_ctx
    with pytest.raises(AttributeError, match="OpDef has no attribute 'paramz'"):
        _ = definition.paramz
    for _ in range(2):
        with pytest.raises(TypeError, match="the signature says"):
            _ = wrong.params


def _second(xp: Any, x: Any, n: Any) -> Any:
    return n


def test_gradients_register_once() -> None:
    definition = declare("Test", "x: float", "y: float")
    definition.gradient(lambda op, grad: grad)
    with pytest.raises(KeyError, match="two gradient with name 'Test'"):
        register_gradient("Test", None)
    declare("Flat", "x: float", "y: float", traits=NO_GRADIENT)
    assert GRADIENTS["Flat"] is None


def test_what_a_declaration_says() -> None:
    plain = declare("Plain", "x: float", "y: float")
    assert plain.traceable and plain.single_output and not plain.has_list_input
    assert not declare("Host", "x: float", "y: float", traits=HOST).traceable
    drawn = op("Drawn", inputs="shape: int32", outputs="y: float", traits=_DRAWS)(
        lambda xp, rng, shape: shape
    )
    assert drawn.stateful and drawn.takes_rng


def test_a_declaration_stays_as_it_is() -> None:
    plain = declare("Plain", "x: float", "y: float")
    with pytest.raises(FrozenInstanceError):
        plain.stateful = True  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        plain.something = 1  # type: ignore[attr-defined]


def test_traits_join() -> None:
    joined = HOST | STATEFUL | HOST
    assert joined.runs_on == "host" and joined.stateful and not joined.blocking
    assert not STATEFUL.runs_on == "host" and vars(Traits() | Traits()) == vars(Traits())


# ---- calling an op ----------------------------------------------------------------------------


def test_types_are_inferred() -> None:
    declare("Test", "x: T, y: T, n: int32", "z: T", "T: type")
    z = raw.Test(tf.constant(1.0), 2, 3, name="t")
    assert z.dtype == tf.float32 and z.op.get_attr("T") == tf.float32
    assert [t.name for t in z.op.inputs] == ["Const:0", "t/y:0", "t/n:0"]
    z = raw.Test(x=np.int64(1), y=2, n=3)
    assert z.dtype == tf.int64


def test_default_types_are_a_preference() -> None:
    declare("Test", "x: T", "z: T", "T: {int64, float} = int64")
    assert raw.Test([1, 2]).dtype == tf.int64
    assert raw.Test([1.5]).dtype == tf.float32


def test_list_inputs() -> None:
    declare("Same", "x: N * T", "z: N * T", "N: int >= 2, T: type")
    declare("Mixed", "x: list(T)", "z: list(T)", "T: list(type)")
    first, second = raw.Same([1.0, tf.constant(2.0)])
    assert first.op.get_attr("N") == 2 and second.dtype == tf.float32
    mixed = raw.Mixed([1.0, 2, b"a"])
    assert [t.dtype for t in mixed] == [tf.float32, tf.int32, tf.string]
    with pytest.raises(TypeError, match="Expected list for 'x' argument to 'same' Op, not"):
        raw.Same(1.0)
    with pytest.raises(ValueError, match="length 1 shorter than minimum length 2"):
        raw.Same([1.0])
    with pytest.raises(TypeError, match="that don't all match"):
        raw.Same([tf.constant(1.0), tf.constant(1)])


def test_several_outputs_have_names() -> None:
    declare("Test", "x: float", "first: float, second: float")
    found = raw.Test(1.0)
    assert found.second is found[1] and len(found) == 2


@pytest.mark.parametrize(
    "arguments, keywords, error, message",
    [
        ([1.0], {}, TypeError, "No argument for input y of Op Test"),
        ([1.0, 2.0, 3, "n", 5], {}, TypeError, "takes 3 arguments but 5 were given"),
        ([1.0], {"x": 1.0}, TypeError, "multiple values for argument 'x'"),
        ([1.0, 2.0], {"k": 1, "zz": 2}, TypeError, "unexpected keyword argument 'zz'"),
        ([1.0, 2.0], {}, TypeError, "No argument for attr k of Op Test"),
        ([1.0, 2.0], {"k": "a"}, TypeError, "Expected int for argument 'k' not 'a'"),
        ([1.0, 2.0], {"k": 0}, ValueError, "passed 0 less than minimum 1"),
        ([b"a", b"b"], {"k": 1}, TypeError, "DataType string not in list of allowed values"),
    ],
)
def test_calls_that_do_not_fit(
    arguments: list[Any], keywords: dict[str, Any], error: type[Exception], message: str
) -> None:
    declare("Test", "x: T, y: T", "z: T", "T: {float, int32}, k: int >= 1")
    with pytest.raises(error, match=message):
        raw.Test(*arguments, **keywords)


def test_inputs_of_other_types() -> None:
    declare("Test", "x: T, y: T, n: int32", "z: T", "T: type")
    with pytest.raises(
        TypeError, match="Input 'y' of 'Test' Op has type int32 that does not match"
    ):
        raw.Test(tf.constant(1.0), tf.constant(1), 3)
    with pytest.raises(TypeError, match="Expected int32 passed to parameter 'n' of op 'Test'"):
        raw.Test(1.0, 1.0, "three")
    declare("Writes", "v: ref(float)", "")
    with pytest.raises(TypeError, match="requires that input 'v' be a mutable tensor"):
        raw.Writes(tf.constant(1.0))


def test_attr_values() -> None:
    declare(
        "Test", "", "",
        's: string = "a", l: list(int) = [1], h: shape = unknown, t: type = int32,'
        ' p: {"X", "Y"} = "X", f: func = "g"',
    )  # fmt: skip
    node = raw.Test(s=b"\xff", l=(np.int32(1), 2), h=tf.TensorShape([2, None]), t=np.float32, f="h")
    assert node.get_attr("s") == b"\xff" and node.get_attr("l") == [1, 2]
    assert [d.size for d in node.get_attr("h").dim] == [2, -1]
    assert node.get_attr("t") == tf.float32 and node.attrs["f"] == FuncRef("h")
    assert raw.Test().get_attr("h").unknown_rank
    with pytest.raises(ValueError, match="string 'Z' not in"):
        raw.Test(p="Z")
    with pytest.raises(TypeError, match="Expected list for 'l' argument to 'test' Op, not 3"):
        raw.Test(l=3)


def test_shape_errors_name_the_node() -> None:
    def square(c: s.ShapeContext) -> s.Dims:
        return s.with_rank(c.dims(0), 2)

    declare("Test", "x: float", "y: float", shape=square)
    assert raw.Test(tf.placeholder(tf.float32)).shape.as_list() == [None, None]
    with pytest.raises(
        ValueError,
        match=r"Shape must be rank 2 but is rank 1 for 't' \(op: 'Test'\) with input shapes: \[3\]",
    ):
        raw.Test(tf.zeros([3]), name="t")


COMPUTED = {
    # As TensorFlow words them, up to the name of the node.
    "reshape": (
        lambda: tf.reshape(tf.zeros([2, 3]), [4]),
        "[2,3], [1] and with input tensors computed as partial shapes: input[1] = [4].",
    ),
    "split": (
        lambda: tf.split(tf.zeros([10, 5]), 3),
        "[], [10,5] and with computed input tensors: input[0] = <0>.",
    ),
    "expand_dims": (
        lambda: tf.expand_dims(tf.zeros([2]), [[1, 2]]),
        "[2], [1,2] and with computed input tensors: input[1] = <[1 2]>.",
    ),
    "before any value is looked at": (
        lambda: tf.transpose(tf.zeros([2, 3]), [0, 1, 2]),
        "[2,3], [3].",
    ),
    "values that are not known": (
        lambda: tf.reshape(tf.zeros([2, 3]), [4, tf.placeholder(tf.int32, [])]),
        "[2,3], [2] and with input tensors computed as partial shapes: input[1] = [4,?].",
    ),
}


@pytest.mark.parametrize("case", COMPUTED)
def test_shape_errors_tell_the_values_that_were_looked_at(case: str) -> None:
    make, end = COMPUTED[case]
    with pytest.raises(ValueError, match="with input shapes: ") as raised:
        make()
    assert str(raised.value).partition("with input shapes: ")[2] == end


def test_shapes_are_seen_through_assertions() -> None:
    """They only wait for the value: it is a constant."""
    assert tf.confusion_matrix([0, 1], [1, 1]).shape == [2, 2]


ONE = [1.0, 1.0, 1.0]
WRONG = {
    "QuantizedMaxPool requires the ksize attribute to contain 4 values, but got: 1": lambda: (
        raw.QuantizedMaxPool(
            tf.cast(tf.zeros([1, 2, 2, 1]), tf.quint8), 0.0, 1.0, ksize=[1], strides=[1] * 4,
            padding="SAME",
        )
    ),
    "QuantizedAvgPool requires the stride attribute to contain 4 values, but got: 2": lambda: (
        raw.QuantizedAvgPool(
            tf.cast(tf.zeros([1, 2, 2, 1]), tf.quint8), 0.0, 1.0, ksize=[1] * 4, strides=[1, 1],
            padding="SAME",
        )
    ),
    "Stride must be > 0, but got 0": lambda: (
        raw.QuantizedMaxPool(
            tf.cast(tf.zeros([1, 2, 2, 1]), tf.quint8), 0.0, 1.0, ksize=[1] * 4,
            strides=[1, 0, 1, 1], padding="VALID",
        )
    ),
    "DepthwiseConv2D requires the dilation attribute to contain 4 values, but got: 1": lambda: (
        raw.DepthwiseConv2dNative(
            tf.zeros([1, 2, 2, 1]), tf.zeros([1, 1, 1, 1]), strides=[1] * 4, padding="SAME",
            dilations=[1],
        )
    ),
    "Shapes must be equal rank, but are 1 and 2": lambda: (
        raw.FusedPadConv2D(
            tf.zeros([1, 3, 3, 1]), [1, 2], tf.zeros([1, 1, 1, 1]), mode="REFLECT",
            strides=[1] * 4, padding="SAME",
        )
    ),
    "Spectrogram initialization failed for window size 2 and stride 0": lambda: (
        raw.AudioSpectrogram(tf.zeros([4, 1]), window_size=2, stride=0)
    ),
    "Shape must be rank 2 but is rank 0": lambda: (
        raw.SparseAddGrad(ONE, np.int64(1), np.int64([[1]]), np.int64([[1]]))
    ),
    "Shape must be at least rank 1 but is rank 0": lambda: (
        raw.SparseApplyMomentum(
            tf.Variable(ONE)._ref(), tf.Variable(ONE)._ref(), 0.1, 1.0, [0], 0.9
        )
    ),
    "No parameters of a forest: '{}'": lambda: (
        raw.TreePredictionsV4(tf.placeholder(tf.resource), [ONE], params="{}")
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_rules_say_what_is_wrong(words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as raised:
        WRONG[words]()
    assert str(raised.value).startswith(words)
