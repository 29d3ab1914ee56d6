"""`tensorflow` and the modules below it, as weft stands in for them."""

from __future__ import annotations

import importlib
import sys
import types
import unittest.mock
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from weft.legacy import tensorflow_import
from weft.legacy.tensorflow_modules import MODULES, RENAMED


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    """The hook, for the length of a test."""
    before = dict(sys.modules)
    tensorflow_import.install()
    yield
    sys.meta_path[:] = [
        finder
        for finder in sys.meta_path
        if not isinstance(finder, tensorflow_import.Finder) or finder.root != "tensorflow"
    ]
    for name in set(sys.modules) - set(before):
        if name.split(".")[0] == "tensorflow":
            del sys.modules[name]


def test_internal_modules_under_wefts_own_name() -> None:
    from weft.python.framework import ops
    from weft.python.ops import math_ops
    from weft.python.ops.math_ops import reduce_sum

    import weft.legacy.python

    assert math_ops.reduce_sum is reduce_sum is weft.reduce_sum
    assert weft.python.framework.ops is ops and ops.Graph is weft.Graph
    assert ops.math_ops.reduce_sum is weft.reduce_sum  # modules import one another
    with pytest.raises(ImportError, match=r"weft\.python\.ops\.nothing is not in weft yet"):
        from weft.python.ops import nothing  # noqa: F401
    with pytest.raises(AttributeError, match=r"weft\.python\.nothing is not in weft yet"):
        weft.python.nothing  # noqa: B018
    assert not hasattr(importlib.import_module("tensorflow"), "nothing")


def test_public_names_are_the_same_objects() -> None:
    import tensorflow as tf
    import tensorflow.compat.v1 as tf_v1

    assert tf.add is weft.add
    assert tf.nn.relu is weft.nn.relu
    assert tf_v1.Session is weft.Session
    assert tf.__version__ == weft.__version__
    assert tf.keras.__version__ == "2.2.4-tf"


def test_compat_v1_is_reached_as_an_attribute() -> None:
    import tensorflow as tf

    assert tf.compat.v1.placeholder is weft.placeholder
    assert tf.compat.v1.nn.relu is weft.nn.relu


def test_namespaces_can_be_imported() -> None:
    import tensorflow.nn as nn
    from tensorflow.nn import relu

    assert nn.relu is relu is weft.nn.relu


def test_internal_modules_lead_to_public_names() -> None:
    from tensorflow.python.framework import constant_op, dtypes, ops
    from tensorflow.python.framework.ops import reset_default_graph
    from tensorflow.python.ops import array_ops, math_ops, nn_ops, variable_scope

    assert ops.Tensor is weft.Tensor
    assert reset_default_graph is weft.reset_default_graph
    assert dtypes.float32 is weft.float32
    assert constant_op.constant is weft.constant
    assert array_ops.reshape is weft.reshape
    assert math_ops.reduce_sum is math_ops.reduce_sum_v1 is weft.reduce_sum
    assert nn_ops.softmax is weft.nn.softmax
    assert variable_scope.get_variable is weft.get_variable


def test_a_module_is_not_a_function_of_the_same_name() -> None:
    from tensorflow.python.framework import function
    from tensorflow.python.ops import gradients, variables

    assert all(isinstance(each, types.ModuleType) for each in (function, gradients, variables))
    assert gradients.gradients is weft.gradients


def test_generated_ops_go_by_lower_case_names() -> None:
    from tensorflow.python.ops import gen_math_ops

    product = gen_math_ops.mat_mul(weft.ones([2, 3]), weft.ones([3, 4]))
    assert product.op.type == "MatMul"
    assert product.shape.as_list() == [2, 4]


def test_a_module_taken_from_its_neighbour() -> None:
    from tensorflow.python.ops import math_ops
    from tensorflow.python.ops.nn_ops import math_ops as same

    assert same is math_ops


def test_messages() -> None:
    from tensorboard.compat.proto import graph_pb2
    from tensorflow.core.framework.graph_pb2 import GraphDef
    from tensorflow.core.protobuf import config_pb2
    from tensorflow.core.protobuf.tensorflow_server_pb2 import ServerDef

    assert GraphDef is graph_pb2.GraphDef
    assert ServerDef(job_name="ps").job_name == "ps"
    assert config_pb2.ConfigProto().allow_soft_placement is False


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_of_the_table_imports(module: str) -> None:
    package = ".".join(module.split(".")[:2])
    if package.startswith("contrib.") and tensorflow_import.places_of(package) is None:
        with pytest.raises(ImportError, match=rf"^tensorflow\.{package} is not in weft yet$"):
            importlib.import_module(f"tensorflow.{module}")
        return
    if module.endswith("curses_ui"):
        pytest.importorskip("textual", reason="textual is not installed (weft[debug])")
    assert importlib.import_module(f"tensorflow.{module}").__name__ == f"tensorflow.{module}"


@pytest.mark.parametrize(("internal", "public"), sorted(RENAMED.items()))
def test_renamed(internal: str, public: str) -> None:
    found = tensorflow_import.resolve(public)
    module, _, name = internal.rpartition(".")
    assert module in MODULES
    if found is not None:
        assert getattr(importlib.import_module(f"tensorflow.{module}"), name) is found


def test_what_weft_lacks_is_named() -> None:
    import tensorflow as tf
    from tensorflow.python.ops import math_ops

    with pytest.raises(AttributeError, match=r"^tensorflow\.nope is not in weft yet$"):
        tf.nope  # noqa: B018
    with pytest.raises(AttributeError, match=r"^tensorflow\.nn\.nope is not in weft yet$"):
        tf.nn.nope  # noqa: B018
    with pytest.raises(AttributeError, match=r"^tensorflow\.python\.ops\.math_ops\.nope is not"):
        math_ops.nope  # noqa: B018
    with pytest.raises(ImportError, match=r"^tensorflow\.python\.ops\.math_ops\.nope is not"):
        from tensorflow.python.ops.math_ops import nope  # noqa: F401
    with pytest.raises(ImportError, match=r"^tensorflow\.nope is not in weft yet$"):
        import tensorflow.nope
    assert not hasattr(tf, "nope")


def test_a_missing_name_is_never_taken_for_a_module() -> None:
    for module in ("python.keras", "python.estimator", "contrib.layers.python.layers"):
        with pytest.raises(ImportError, match=r"is not in weft yet$"):
            exec(f"from tensorflow.{module} import nope")


def test_how_weft_is_built_is_not_part_of_it() -> None:
    import tensorflow as tf

    assert not hasattr(tf, "passes")
    assert not hasattr(tf, "runtime")


def test_patching_a_name_patches_weft() -> None:
    import tensorflow as tf

    original = weft.add
    with unittest.mock.patch("tensorflow.add", "patched"):
        assert tf.add == weft.add == "patched"
    assert tf.add is weft.add is original


def test_star_import() -> None:
    names: dict[str, object] = {}
    exec("from tensorflow.python.framework.ops import *", names)
    assert names["Tensor"] is weft.Tensor


def test_helpers_without_a_public_name() -> None:
    from tensorflow.python import tf2
    from tensorflow.python.util import tf_contextlib, tf_inspect
    from tensorflow.python.util.all_util import remove_undocumented

    def function(a, b=1): ...

    assert tf2.enabled() is False
    assert tf_inspect.getargspec(function).args == ["a", "b"]
    assert tf_inspect.isfunction(function)
    assert remove_undocumented("module") is None
    assert tf_contextlib.contextmanager


def test_walking_through_a_module() -> None:
    import tensorflow as tf

    assert vars(tf.contrib.rnn)["BasicLSTMCell"] is weft.contrib.rnn.BasicLSTMCell
    assert tf.nn.__dict__["relu"] is weft.nn.relu
    for module in (tf, tf.contrib.distributions, tf.compat.v1.nn):
        assert all(hasattr(module, name) for name in dir(module))


def test_locating_a_name_by_its_path() -> None:
    import pydoc

    assert pydoc.locate("tensorflow.identity") is weft.identity
    assert pydoc.locate("tensorflow.layers.dense") is weft.layers.dense
    assert pydoc.locate("tensorflow.no_such_name") is None
    assert pydoc.locate("tensorflow.initializers.no_such_name") is None


def test_the_data_modules_of_slim() -> None:
    from tensorflow.contrib.slim.python.slim.data import dataset, tfexample_decoder

    slim = weft.contrib.slim
    assert dataset.Dataset is slim.dataset.Dataset
    assert tfexample_decoder.TFExampleDecoder is slim.tfexample_decoder.TFExampleDecoder


def test_comparing_serialized_graphs() -> None:
    from tensorflow.python import pywrap_tensorflow

    with weft.Graph().as_default() as graph:
        weft.constant(1.0, name="a")
        one = graph.as_graph_def().SerializeToString()
        weft.constant(2.0, name="b")
        two = graph.as_graph_def().SerializeToString()
    assert pywrap_tensorflow.EqualGraphDefWrapper(one, one) == b""
    assert b"'b'" in pywrap_tensorflow.EqualGraphDefWrapper(two, one)


def test_the_cost_of_a_node() -> None:
    from tensorflow.python.framework import ops

    with weft.Graph().as_default() as graph:
        product = weft.matmul(weft.zeros([2, 3]), weft.zeros([3, 4]))
        of = graph.as_graph_def().node
        costs = {n.name: ops.get_stats_for_node_def(graph, n, "flops").value for n in of}
    assert costs[product.op.name] == 2 * 2 * 3 * 4
    assert costs["zeros"] is None


def test_the_devices_of_a_config() -> None:
    import tensorflow as tf
    from tensorflow.python.client import device_lib

    config = tf.ConfigProto(device_count={"CPU": 2, "GPU": 0})
    found = device_lib.list_local_devices(session_config=config)
    assert [d.name for d in found if d.device_type == "CPU"] == ["/device:CPU:0", "/device:CPU:1"]
    assert 'device_type: "CPU"' in str(found[0])  # a message, as programs print it


def test_examples_of_the_programs_own_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tensorflow" / "examples" / "speech_commands"
    folder.mkdir(parents=True)
    (folder / "models.py").write_text("import tensorflow as tf\nADD = tf.add\n")
    monkeypatch.chdir(tmp_path)
    from tensorflow.examples.speech_commands import models

    assert models.ADD is weft.add


def test_examples_and_internal_modules_by_the_name_of_weft() -> None:
    from weft.examples.tutorials.mnist import input_data
    from weft.python.ops import array_ops

    assert weft.examples.tutorials.mnist.input_data.read_data_sets is input_data.read_data_sets
    assert weft.python.ops.array_ops.shape is array_ops.shape is weft.shape
