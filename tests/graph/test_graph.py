"""Graph: names, scopes, devices, colocation, control dependencies, collections, look-up."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.graph.graph import colocate_with
from weft.graph.op_def import raw


def made(name: str | None = None) -> str:
    """Makes a node; its name."""
    return raw.NoOp(name=name).name


def controls(tensor_or_op: Any) -> list[str]:
    op = getattr(tensor_or_op, "op", tensor_or_op)
    return [control.name for control in op.control_inputs]


# ---- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked, given",
    [
        (["a", "a", "a"], ["a", "a_1", "a_2"]),
        (["a", "A", "a"], ["a", "A_1", "a_2"]),  # told apart without regard to case
        (["a", "a_1", "a"], ["a", "a_1", "a_2"]),
        (["a_1", "a", "a"], ["a_1", "a", "a_2"]),
        (["b/c", "b/c", "b"], ["b/c", "b/c_1", "b"]),
        (["x.y", "x-y", "1a", "a>b", "a\\b"], ["x.y", "x-y", "1a", "a>b", "a\\b"]),
        ([None, "", None], ["NoOp", "NoOp_1", "NoOp_2"]),
    ],
)
def test_names_are_unique(asked: list[str | None], given: list[str]) -> None:
    assert [made(name) for name in asked] == given


@pytest.mark.parametrize("name", ["_a", "-a", "a b", "a$", "a:0", "ä"])
def test_bad_names(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid node name"):
        made(name)


def test_name_scopes() -> None:
    with tf.name_scope("s") as scope:
        assert scope == "s/"
        assert [made("a"), made("a"), made("_b")] == ["s/a", "s/a_1", "s/_b"]
        assert made(scope) == "s"  # a name that ends in a slash is taken as it is
    with tf.name_scope("s") as scope:
        assert scope == "s_1/" and made("a") == "s_1/a"
    with tf.name_scope("s/") as scope:  # opens the same scope again
        assert scope == "s/" and made("a") == "s/a_2"
    with tf.name_scope("outer"):
        with tf.name_scope("_inner") as scope:
            assert scope == "outer/_inner/"
            assert tf.get_default_graph().get_name_scope() == "outer/_inner"
        with tf.name_scope("s/") as scope:
            assert scope == "s/"
        for root in (None, ""):
            with tf.name_scope(root) as scope:
                assert scope == ""
        assert made("a") == "outer/a"
    assert made("a") == "a"


def test_name_scope_is_left_on_error() -> None:
    with pytest.raises(RuntimeError), tf.name_scope("s"):
        raise RuntimeError
    assert made("a") == "a"


def test_default_names_of_scopes() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(1)
    with tf.name_scope(None, "default", [x]) as scope:
        assert scope == "default/"
        assert tf.get_default_graph() is graph  # the graph of the values
    with tf.name_scope("given", "default") as scope:
        assert scope == "given/"
    with pytest.raises(ValueError, match="At least one of name"), tf.name_scope(None, None, [x]):
        pass
    with pytest.raises(TypeError, match="`default_name` type"):
        tf.name_scope("a", [x])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="same graph"), tf.name_scope("a", None, [x, tf.zeros([])]):
        pass


@pytest.mark.parametrize("name", ["_x", "a b", "$"])
def test_bad_scope_names(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid scope name"), tf.name_scope(name):
        pass
    assert made("a") == "a"


def test_unique_name() -> None:
    graph = tf.Graph()
    assert [graph.unique_name("a"), graph.unique_name("a")] == ["a", "a_1"]
    assert graph.unique_name("a", mark_as_used=False) == "a_2"
    assert graph.unique_name("a") == "a_2"


# ---- devices ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "specs, device",
    [
        (["/cpu:0"], "/device:CPU:0"),
        (["/job:w", "/gpu:1"], "/job:w/device:GPU:1"),
        (["/job:w/task:1", "/job:ps"], "/job:ps/task:1"),
        (["/job:w", None], ""),
        (["/job:w", None, "/cpu:3"], "/device:CPU:3"),
        (["/job:w", ""], "/job:w"),
        (["/device:GPU:*"], "/device:GPU:*"),
        ([lambda op: "/cpu:7"], "/cpu:7"),
        ([lambda op: "/cpu:7", "/job:w"], "/cpu:7"),  # a function has the last word
        (["/job:w", lambda op: "/cpu:7"], "/job:w/device:CPU:7"),
        ([lambda op: None], ""),
        ([tf.DeviceSpec(job="w", device_type="GPU", device_index=0)], "/job:w/device:GPU:0"),
    ],
)
def test_device_scopes(specs: list[Any], device: str) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        for spec in specs:
            stack.enter_context(tf.device(spec))
        assert raw.NoOp().device == device
    assert raw.NoOp().device == ""


def test_device_function_sees_the_node() -> None:
    def place(op: Any) -> str:
        return "/gpu:0" if op.type == "Add" and len(op.inputs) == 2 else "/cpu:0"

    with tf.device(place):
        x = tf.constant(1)
        y = raw.Add(x, x)
    assert (x.device, y.device) == ("/cpu:0", "/gpu:0")


def test_bad_devices() -> None:
    with pytest.raises(ValueError, match="foo"), tf.device("/foo:bar"):
        pass
    graph = tf.Graph()
    outer = graph.device("/gpu:8")
    outer.__enter__()
    with graph.device("/gpu:9"), pytest.raises(RuntimeError, match="proper scope nesting"):
        outer.__exit__(None, None, None)


# ---- colocation -------------------------------------------------------------------------------


def test_colocation() -> None:
    with tf.device("/cpu:0"):
        x = tf.constant(1, name="x")
    with tf.device("/gpu:0"):
        y = tf.constant(1, name="y")
    with tf.device("/gpu:1"), colocate_with(x):
        z = tf.constant(1, name="z")
    assert x.op.colocation_groups() == [b"loc:@x"]
    assert z.op.colocation_groups() == [b"loc:@x"] and z.device == x.device
    with colocate_with(z):  # joins z's group, not one of its own
        assert tf.constant(1).op.colocation_groups() == [b"loc:@x"]
    with colocate_with(x), colocate_with(y):
        assert tf.constant(1).op.colocation_groups() == [b"loc:@x", b"loc:@y"]
    with colocate_with(x), colocate_with(y, ignore_existing=True):
        assert tf.constant(1).op.colocation_groups() == [b"loc:@y"]
    with colocate_with(x), colocate_with(None, ignore_existing=True):
        apart = tf.constant(1, name="apart")
    assert apart.op.colocation_groups() == [b"loc:@apart"]
    with pytest.raises(ValueError, match="ignore_existing"), colocate_with(None):
        pass


def test_colocation_goes_before_devices() -> None:
    x = tf.constant(1, name="x")
    with tf.device("/cpu:5"), colocate_with(x):
        assert tf.constant(1).device == ""
    with tf.device("/cpu:0"):
        y = tf.constant(1, name="y")
    with colocate_with(y), tf.device("/gpu:3"):
        assert tf.constant(1).device == "/device:CPU:0"


# ---- control dependencies ---------------------------------------------------------------------


def test_control_dependencies() -> None:
    graph = tf.get_default_graph()
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with graph.control_dependencies([a, b.op]):
        c = tf.constant(3.0, name="c")
        d = raw.Identity(a, name="d")
        e = raw.Identity(c, name="e")
        f = raw.Add(d, b, name="f")
    assert controls(c) == ["a", "b"]
    assert controls(d) == ["b"]  # a is an input already
    assert controls(e) == []  # c waited for both
    assert controls(f) == []  # and so did d
    assert controls(tf.constant(1)) == []


def test_nested_control_dependencies() -> None:
    graph = tf.get_default_graph()
    a, b = tf.constant(1.0, name="a"), raw.NoOp(name="b")
    with graph.control_dependencies([a]):
        with graph.control_dependencies([b, a, b]):
            inner = tf.constant(1.0)
        with graph.control_dependencies(None):
            free = tf.constant(1.0)
        with graph.control_dependencies([]):
            outer = tf.constant(1.0)
    assert controls(inner) == ["a", "b"]
    assert controls(free) == []
    assert controls(outer) == ["a"]


def test_control_inputs_may_be_names_and_variables() -> None:
    graph = tf.get_default_graph()
    v = tf.Variable(1.0, name="v")
    r = tf.Variable(1.0, name="r", use_resource=True)
    raw.NoOp(name="n")
    with graph.control_dependencies(["n", v, r]):
        assert controls(raw.NoOp()) == ["n", "v", "r"]


@pytest.mark.parametrize("item, error", [(3, TypeError), (None, TypeError), ("zz", KeyError)])
def test_bad_control_inputs(item: Any, error: type[Exception]) -> None:
    with pytest.raises(error), tf.control_dependencies([item]):
        pass


def test_control_inputs_of_another_graph() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1)
    with pytest.raises(ValueError, match=r"^Tensor Tensor\(.* is not an element"):
        with tf.control_dependencies([x]):
            pass


# ---- attributes added by scopes ---------------------------------------------------------------


def test_gradient_override_map() -> None:
    graph = tf.get_default_graph()
    with graph.gradient_override_map({"Square": "Outer", "Exp": "OfExp"}):
        with graph.gradient_override_map({"Square": "Inner"}):
            x = raw.Square(tf.constant(2.0))
        y = raw.Exp(x)
    z = raw.Square(y)
    assert x.op.get_attr("_gradient_op_type") == b"Inner"
    assert y.op.get_attr("_gradient_op_type") == b"OfExp"
    with pytest.raises(ValueError, match="has no attr named '_gradient_op_type'"):
        z.op.get_attr("_gradient_op_type")
    for wrong in ([1], {1: "a"}, {"a": 1}):
        with pytest.raises(TypeError, match="dictionary mapping"):
            with graph.gradient_override_map(wrong):  # type: ignore[arg-type]
                pass


def test_container() -> None:
    graph = tf.get_default_graph()
    with graph.container("outer"), graph.container("inner"):
        v = raw.VarHandleOp(dtype=tf.float32, shape=[])
    w = raw.VarHandleOp(dtype=tf.float32, shape=[])
    assert v.op.get_attr("container") == b"inner"
    assert w.op.get_attr("container") == b""


# ---- collections ------------------------------------------------------------------------------


def test_collections() -> None:
    graph = tf.Graph()
    graph.add_to_collection("k", 1)
    graph.add_to_collections(["k", "l", "k"], 2)
    graph.add_to_collections("m", 5)
    assert graph.get_collection("k") == [1, 2]
    assert graph.get_collection("l") == [2] and graph.get_collection("m") == [5]
    assert graph.get_collection("none") == []
    graph.get_collection("k").append(9)  # a copy
    graph.get_collection_ref("l").append(9)  # the collection itself
    assert graph.get_collection("k") == [1, 2] and graph.get_collection("l") == [2, 9]
    assert sorted(graph.get_all_collection_keys()) == ["k", "l", "m"]
    graph.clear_collection("k")
    assert graph.get_collection("k") == []


def test_collection_by_scope() -> None:
    x, y = tf.constant(1, name="foo/x"), tf.constant(1, name="foo_y")
    for item in (x, y, 7):
        tf.add_to_collection("t", item)
    assert tf.get_collection("t", "foo") == [x, y]
    assert tf.get_collection("t", "foo/") == [x]
    assert tf.get_collection("t", ".*y") == [y]


# ---- read-only --------------------------------------------------------------------------------


def test_finalize() -> None:
    graph = tf.get_default_graph()
    tf.constant(1)
    tf.add_to_collection("k", 1)
    graph.finalize()
    assert graph.finalized
    for change in (
        lambda: tf.constant(1),
        lambda: tf.add_to_collection("k", 1),
        lambda: graph.clear_collection("k"),
    ):
        with pytest.raises(RuntimeError, match="finalized"):
            change()
    assert graph.version == 1 and graph.get_collection("k") == [1]


# ---- look-up ----------------------------------------------------------------------------------


@pytest.fixture
def three() -> tuple[Any, Any, Any]:
    return (
        tf.constant(1, name="a"),
        raw.NoOp(name="n"),
        raw.Unpack(tf.constant([1, 2]), 2, name="u"),
    )


def test_elements_by_name(three: Any) -> None:
    a, n, u = three
    graph = tf.get_default_graph()
    assert graph.as_graph_element("a:0") is a and graph.as_graph_element(b"a:0") is a
    assert graph.as_graph_element("a") is a.op and graph.get_operation_by_name("n") is n
    assert graph.get_tensor_by_name("u:1") is u[1]
    assert graph.as_graph_element(a) is a and graph.as_graph_element(n) is n
    variable = tf.Variable(1, name="v")
    assert graph.as_graph_element(variable).name == "v:0"


@pytest.mark.parametrize(
    "name, error, message",
    [
        ("z", KeyError, "refers to an Operation not in the graph"),
        ("z:0", KeyError, "'z', does not exist in the graph"),
        ("a:1", KeyError, "exists but only has 1 outputs"),
        ("n:0", KeyError, "exists but only has 0 outputs"),
        ("a:b", ValueError, 'must be of the form "<op_name>:<output_index>"'),
        ("a:0:0", ValueError, 'must be of the form "<op_name>:<output_index>"'),
        (3, TypeError, "Can not convert a int into a Tensor or Operation"),
        (None, TypeError, "Can not convert a NoneType into a Tensor or Operation"),
    ],
)
def test_elements_that_are_not_there(
    three: Any, name: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tf.get_default_graph().as_graph_element(name)


def test_elements_of_the_wrong_kind(three: Any) -> None:
    a, n, _ = three
    graph = tf.get_default_graph()
    with pytest.raises(ValueError, match="refers to an Operation, not a Tensor"):
        graph.get_tensor_by_name("a")
    with pytest.raises(ValueError, match=r"looks like an \(invalid\) Operation name"):
        graph.get_tensor_by_name("z")
    with pytest.raises(ValueError, match="appears to refer to a Tensor, not a Operation"):
        graph.get_operation_by_name("a:0")
    with pytest.raises(TypeError, match="Can not convert a Operation into a Tensor"):
        graph.as_graph_element(n, allow_operation=False)
    with pytest.raises(TypeError, match="Can not convert a Tensor into a Operation"):
        graph.as_graph_element(a, allow_tensor=False)
    with pytest.raises(ValueError, match="can't both be False"):
        graph.as_graph_element(a, False, False)
    for get in (graph.get_tensor_by_name, graph.get_operation_by_name):
        with pytest.raises(TypeError, match="names are strings"):
            get(3)
    other = tf.Graph()
    for element in (a, n):
        with pytest.raises(ValueError, match="is not an element of this graph"):
            other.as_graph_element(element)


def test_inputs_of_different_graphs() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1)
    with pytest.raises(ValueError, match="same graph"):
        raw.Add(x, tf.constant(1))


# ---- the default graph ------------------------------------------------------------------------


def test_default_graph_nests() -> None:
    outermost, graph = tf.get_default_graph(), tf.Graph()
    with graph.as_default() as entered:
        assert entered is graph is tf.get_default_graph()
        with tf.Graph().as_default() as inner:
            assert tf.get_default_graph() is inner
        assert tf.get_default_graph() is graph
        with pytest.raises(AssertionError, match="nested graphs"):
            tf.reset_default_graph()
    assert tf.get_default_graph() is outermost
    tf.reset_default_graph()
    assert tf.get_default_graph() is not outermost


def in_thread(function: Any) -> Any:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_scopes_belong_to_a_thread() -> None:
    graph = tf.get_default_graph()
    assert in_thread(tf.get_default_graph) is not graph

    def elsewhere() -> tuple[str, str]:
        with graph.as_default():
            node = raw.NoOp(name="n")
            return node.name, node.device

    with tf.name_scope("s"), tf.device("/gpu:0"):
        assert in_thread(elsewhere) == ("n", "")


def test_threads_build_one_graph() -> None:
    graph = tf.Graph()
    workers, each = 8, 60
    start = threading.Barrier(workers)
    failures: list[BaseException] = []

    def build(number: int) -> None:
        try:
            start.wait()
            with graph.as_default(), tf.name_scope(f"thread{number}"):
                x = tf.constant(number, name="x")
                for _ in range(each - 1):
                    x = raw.Add(x, x, name="sum")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=build, args=(i,)) for i in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    operations = graph.get_operations()
    assert len(operations) == len({op.name for op in operations}) == workers * each
    position = {op: i for i, op in enumerate(operations)}
    assert all(position[t.op] < position[op] for op in operations for t in op.inputs)
    assert all(
        op.name.startswith(f"{t.op.name.split('/')[0]}/") for op in operations for t in op.inputs
    )


def test_threads_never_share_a_name() -> None:
    graph = tf.Graph()
    names: list[list[str]] = [[], [], [], []]

    def build(into: list[str]) -> None:
        with graph.as_default():
            into.extend(made("same") for _ in range(100))

    threads = [threading.Thread(target=build, args=(into,)) for into in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({name for each in names for name in each}) == 400


# ---- operations and tensors -------------------------------------------------------------------


def test_operation_as_data() -> None:
    x = tf.constant([[1.0, 2.0]], name="x")
    y = raw.MatMul(x, x, transpose_b=True, name="y")
    op = y.op
    assert (op.name, op.type, list(op.inputs), op.outputs) == ("y", "MatMul", [x, x], [y])
    assert op.get_attr("transpose_b") is True and op.get_attr("T") == tf.float32
    assert x.op.get_attr("value").tensor_shape.dim[1].size == 2
    with pytest.raises(ValueError, match="Operation 'y' has no attr named 'zz'"):
        op.get_attr("zz")
    node = op.node_def
    assert (node.name, node.op, list(node.input)) == ("y", "MatMul", ["x", "x"])
    assert sorted(node.attr) == ["T", "transpose_a", "transpose_b"]
    assert op.op_def.input_arg[1].name == "b"
    assert repr(op) == "<tf.Operation 'y' type=MatMul>"
    assert repr(y) == "<tf.Tensor 'y:0' shape=(1, 1) dtype=float32>"
    assert str(y) == 'Tensor("y:0", shape=(1, 1), dtype=float32)'
    assert x.consumers() == [op, op] and op.values() == (y,)


def test_tensors_are_compared_by_identity() -> None:
    x, y = tf.constant(1), tf.constant(1)
    assert x == x and x != y
    assert {x: 1, y: 2}[y] == 2
    assert x.experimental_ref() == x.experimental_ref() != y.experimental_ref()
    assert x.experimental_ref().deref() is x


def test_tensors_are_not_values() -> None:
    x = tf.constant([1.0], name="x")
    with pytest.raises(TypeError, match="bool"):
        bool(x)
    with pytest.raises(TypeError, match="len is not well defined"):
        len(x)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        float(x)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="x:0"):
        import numpy as np

        np.asarray(x)
    for use in (x.eval, x.op.run):
        with pytest.raises(ValueError, match="No default session is registered"):
            use()
    with pytest.raises(TypeError, match="Can't convert Operation 'n' to Tensor"):
        tf.convert_to_tensor(raw.NoOp(name="n"))


def test_static_shapes_only_gain() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    x.set_shape([4, None])
    assert x.shape.as_list() == [4, 3]
    for wrong in ([4, 5], [4]):
        with pytest.raises(ValueError, match="must be equal"):
            x.set_shape(wrong)
    assert x.shape.as_list() == [4, 3]


SHAPES_AS_TENSORS = [
    ([2], None, "int32"),
    ([2**31 - 1], None, "int32"),
    ([2**31, 2], None, "int64"),
    ([2**31, 2], tf.int64, "int64"),
    ([2], tf.float32, "Cannot convert a TensorShape to dtype: <dtype: 'float32'>"),
    (
        [2, 2**31],
        tf.int32,
        "Cannot convert a TensorShape to dtype int32; a dimension is too large (2147483648)",
    ),
    ([None], None, "Cannot convert a partially known TensorShape to a Tensor: (?,)"),
]


@pytest.mark.parametrize(("dims", "dtype", "found"), SHAPES_AS_TENSORS)
def test_shapes_become_tensors_of_whole_numbers(dims: Any, dtype: Any, found: str) -> None:
    try:
        tensor = tf.convert_to_tensor(tf.TensorShape(dims), dtype)
    except (TypeError, ValueError) as error:
        assert str(error) == found
    else:
        assert tensor.dtype.name == found and tensor.op.name == "shape_as_tensor"


def test_traceback_names_the_users_line() -> None:
    x = tf.constant(1.0)  # the line of the constant
    y = tf.add(x, 2.0)  # the line of the sum
    for tensor, comment in ((x, "the constant"), (y, "the sum")):
        file, line, function, text = tensor.op.traceback[-1]
        assert file == __file__ and function == "test_traceback_names_the_users_line"
        assert text.endswith(f"# the line of {comment}")
        *_, start = tensor.op.traceback_with_start_lines[-1]
        assert start < line


def test_errors_name_the_users_line() -> None:
    x = raw.CheckNumerics(tf.constant([float("nan")]), message="bad", name="check")
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError) as caught:
        session.run(x)
    assert "test_graph.py" in str(caught.value) and "check" in str(caught.value)
    assert caught.value.op.name == "check"


def test_python_cannot_look_into_a_tensor() -> None:
    """A graph's tensor has no value; what to do about it depends on whether AutoGraph is there."""
    x = tf.constant([1, 2])
    for what, look in (("iterating over `tf.Tensor`", list), ("using a `tf.Tensor` as a", bool)):
        with pytest.raises(TypeError, match=f"^{what}.* is not allowed in Graph execution. Use"):
            look(x)
        left_alone = tf.autograph.experimental.do_not_convert(look)
        with pytest.raises(TypeError, match=f"{what}.*: AutoGraph did not convert this function"):
            tf.function(lambda x, look=look: look(x))(x)  # not Python's to convert
        with pytest.raises(TypeError, match=f"{what}.*: AutoGraph is disabled in this function"):
            tf.function(lambda x, look=left_alone: look(x), autograph=False)(x)
    assert not hasattr(x, "__next__") and hasattr(x, "__iter__")


@pytest.mark.parametrize("kind", [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32])
def test_messages_of_quantized_numbers(kind: Any) -> None:
    """NumPy knows them as records of one field, so that (21,) is a number."""
    message = tf.make_tensor_proto([(21,), (22,), (23,)], dtype=kind)
    assert [dim.size for dim in message.tensor_shape.dim] == [3]
    found = tf.make_ndarray(message)
    assert found.dtype == kind.as_numpy_dtype
    np.testing.assert_array_equal(found, np.array([(21,), (22,), (23,)], found.dtype))
    assert tf.make_tensor_proto(found) == message


def test_control_inputs_are_in_order_in_graph_defs() -> None:
    """As TensorFlow's: a node's own definition keeps the order in which they came."""
    with tf.Graph().as_default() as graph:
        late, early = tf.constant(1.0, name="z"), tf.constant(2.0, name="a")
        with tf.control_dependencies([late, early]):
            op = tf.no_op("last")
        assert list(op.node_def.input) == ["^z", "^a"]
        (node,) = (node for node in graph.as_graph_def().node if node.name == "last")
        assert list(node.input) == ["^a", "^z"]
