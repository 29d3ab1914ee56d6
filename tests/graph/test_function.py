"""Functions of the library: written, read, called, named."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.graph.function_def import function_def
from weft.ops.functions.defun import Declare, DefinedFunction, Defun, from_library


@Defun(tf.float32, tf.float32, func_name="Line")
def line(x, y):
    """A docstring."""
    return x + 2.0 * y, x * y


def evaluate(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


def test_call_names_and_values() -> None:
    first, product = line(1.0, 3.0)
    assert first.op is product.op and first.op.type == first.op.name == "Line"
    assert line(1.0, 2.0, name="mine")[0].op.name == "mine"
    assert evaluate([first, product]) == [7.0, 3.0]


def test_definition() -> None:
    message = line.definition
    assert [arg.name for arg in message.signature.input_arg] == ["x", "y"]
    assert message.signature.description == "A docstring."
    assert len(set(message.ret)) == 2
    assert message.attr["_disable_call_shape_inference"].b


def test_same_body_same_name() -> None:
    def make():
        @Defun(tf.float32)
        def f(x):
            return x + 1.0

        return f

    assert make().name == make().name
    with pytest.raises(tf.errors.InvalidArgumentError, match="a different function"):
        Defun(tf.float32, func_name="Line")(lambda x: x)(1.0)
        line(1.0, 2.0)


def test_wrong_calls() -> None:
    with pytest.raises(ValueError, match="Expected number of arguments: 2, received: 1"):
        line(1.0)
    with pytest.raises(ValueError, match="Unknown keyword arguments"):
        line(1.0, 2.0, device="/cpu:0")
    with pytest.raises(ValueError, match="are not supported"):
        Defun(tf.float32)(lambda x=1: x)
    with pytest.raises(ValueError, match="can not return None"):
        _ = Defun()(lambda: (None, None)).definition


def test_overloads_by_type() -> None:
    @Defun(func_name="Twice")
    def twice(x):
        return x * 2

    whole, real = twice(3), twice(1.5)
    assert (whole.op.type, real.op.type) == ("Twice_i32", "Twice_f32")
    assert evaluate([whole, real]) == [6, 3.0]


def test_captures_become_arguments() -> None:
    outside = tf.placeholder(tf.float32, [])
    variable = tf.get_variable("v", initializer=5.0, use_resource=True)

    @Defun(tf.float32)
    def add(x):
        return x + outside + variable

    total = add(1.0)
    assert list(add.captured_inputs) == [outside, variable.handle]
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(total, {outside: 10.0}) == 16.0


def test_capture_by_value() -> None:
    number = tf.constant(4.0) * 2.0

    @Defun(tf.float32, capture_by_value=True)
    def add(x):
        return x + number

    assert evaluate(add(1.0)) == 9.0 and not add.captured_inputs
    placeholder = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match="Cannot capture a placeholder"):
        Defun(capture_by_value=True)(lambda: placeholder + 1.0)()


def test_variables_belong_to_the_graph_outside() -> None:
    @Defun(tf.float32)
    def scaled(x):
        return x * tf.get_variable("w", [], initializer=tf.constant_initializer(3.0))

    with tf.variable_scope("scope"):
        result = scaled(2.0)
    assert [v.name for v in tf.global_variables()] == ["scope/w:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(result) == 6.0


def test_nested_functions_travel_together() -> None:
    @Defun(tf.float32)
    def cube(x):
        @Defun(tf.float32, func_name="Square")
        def square(y):
            return y * y

        return square(x) * x

    result = cube(3.0)
    with tf.Graph().as_default() as graph:
        (again,) = tf.import_graph_def(
            result.graph.as_graph_def(), return_elements=[result.name], name=""
        )
        assert "Square" in graph._functions
        assert evaluate(again) == 27.0


def test_library_round_trip() -> None:
    @Defun(tf.float32, tf.float32, func_name="Slope")
    def slope(x, dy):
        return dy * 100.0

    @Defun(tf.float32, func_name="Steep", grad_func=slope)
    def steep(x):
        return x * x

    steep(1.0)
    graph_def = tf.get_default_graph().as_graph_def()
    assert [(g.function_name, g.gradient_func) for g in graph_def.library.gradient] == [
        ("Steep", "Slope")
    ]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        assert graph.as_graph_def() == graph_def
        x = tf.constant(2.0)
        y = Declare("Steep", [("x", tf.float32)], [("y", tf.float32)])(x)
        assert evaluate([y, *tf.gradients(y, x)]) == [4.0, 100.0]
    found = {f.name: f.grad_func_name for f in from_library(graph_def.library)}
    assert found == {"Slope": None, "Steep": "Slope"}


def test_libraries_that_contradict() -> None:
    line(1.0, 2.0)
    other = tf.get_default_graph().as_graph_def()
    other.library.function[0].node_def[0].name += "_other"
    with pytest.raises(ValueError, match="Cannot add function 'Line'"):
        tf.import_graph_def(other, name="again")


def test_function_with_open_attributes() -> None:
    """A FunctionDef may leave types to its callers, and pass whole lists on."""
    graph_def = tf.GraphDef()
    message = graph_def.library.function.add()
    message.signature.name = "SumOfAll"
    message.signature.attr.add(name="T", type="type")
    message.signature.attr.add(name="N", type="int")
    message.signature.input_arg.add(name="xs", type_attr="T", number_attr="N")
    message.signature.output_arg.add(name="total", type_attr="T")
    node = message.node_def.add(name="add", op="AddN", input=["xs"])
    node.attr["T"].placeholder, node.attr["N"].placeholder = "T", "N"
    message.ret["total"] = "add:sum:0"
    for i in range(3):
        const = graph_def.node.add(name=f"c{i}", op="Const")
        const.attr["dtype"].type = tf.int32.as_datatype_enum
        const.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(i + 1))
    call = graph_def.node.add(name="call", op="SumOfAll", input=["c0", "c1", "c2"])
    call.attr["T"].type = tf.int32.as_datatype_enum
    call.attr["N"].i = 3
    (total,) = tf.import_graph_def(graph_def, return_elements=["call:0"])
    assert evaluate(total) == 6


def test_missing_functions_are_named() -> None:
    call = Declare("Nowhere", [("x", tf.float32)], [("y", tf.float32)])(1.0)
    with pytest.raises(tf.errors.NotFoundError, match="Function Nowhere is not defined"):
        evaluate(call)


def test_cut_out_of_a_graph() -> None:
    x = tf.placeholder(tf.float32)
    middle = tf.exp(x, name="Middle")
    out = middle * 2.0
    message = function_def("Tail", "", [out.op, out.op.inputs[1].op], [middle], [out])
    assert [arg.name for arg in message.signature.input_arg] == ["middle"]
    assert evaluate(DefinedFunction.from_definition(message)(3.0)) == 6.0


def test_shape_function() -> None:
    @Defun(tf.float32, shape_func=lambda op: [op.inputs[0].get_shape()])
    def f(x):
        return x + 1.0

    assert f(np.zeros([2, 3], np.float32)).shape.as_list() == [2, 3]
