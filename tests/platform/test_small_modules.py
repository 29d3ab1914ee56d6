"""tf.compat, tf.sysconfig, tf.resource_loader, tf.version, tf.Module, switches, libraries."""

from __future__ import annotations

import os

import numpy as np
import pytest

import weft as tf


def test_versions() -> None:
    assert tf.VERSION == tf.__version__ == tf.version.VERSION == "1.15.0"
    assert tf.GRAPH_DEF_VERSION == tf.Graph().graph_def_versions.producer
    assert tf.sysconfig.CXX11_ABI_FLAG == tf.CXX11_ABI_FLAG
    assert isinstance(tf.COMPILER_VERSION, str)


def test_sysconfig_points_into_the_package() -> None:
    package = os.path.dirname(tf.__file__)
    assert tf.sysconfig.get_lib() == package
    assert tf.sysconfig.get_compile_flags()[0] == f"-I{package}/include"
    assert len(tf.sysconfig.get_link_flags()) == 2


def test_resource_loader() -> None:
    here = os.path.dirname(__file__)
    assert tf.resource_loader.get_data_files_path() == here
    assert tf.resource_loader.get_path_to_datafile("x.txt") == os.path.join(here, "x.txt")
    assert tf.resource_loader.get_root_dir_with_all_resources() == here
    assert tf.resource_loader.load_resource("__init__.py").startswith(b'"""weft')
    assert tf.resource_loader.readahead_file_path("a") == "a"


def test_compat() -> None:
    assert tf.compat.v1 is tf
    assert tf.compat.as_bytes("é") == "é".encode()
    assert tf.compat.as_str_any(3) == "3"
    assert tf.compat.dimension_value(tf.Dimension(3)) == 3
    assert not tf.compat.forward_compatible(2020, 1, 1)
    with tf.compat.forward_compatibility_horizon(2020, 1, 2):
        assert tf.compat.forward_compatible(2020, 1, 1)
    assert not tf.compat.forward_compatible(2020, 1, 1)
    with pytest.raises(AttributeError, match=r"tf\.Session or tf\.compat\.v1\.Session"):
        _ = tf.compat.v2.Session
    with pytest.raises(AttributeError, match="v3"):
        _ = tf.compat.v3


def test_switches_to_what_weft_does() -> None:
    tf.disable_eager_execution()
    tf.disable_v2_behavior()
    tf.disable_v2_tensorshape()
    tf.disable_tensor_equality()
    tf.disable_control_flow_v2()
    assert not tf.executing_eagerly()
    assert not tf.control_flow_v2_enabled()


def test_is_tensor() -> None:
    x = tf.constant(1.0)
    slices = tf.IndexedSlices(x, tf.constant([0]))
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    for value in (x, tf.Variable(1.0), slices, sparse):
        assert tf.is_tensor(value)
    for value in (1, np.zeros(2), x.op, "x", [x]):
        assert not tf.is_tensor(value)


def test_libraries_cannot_be_loaded(tmp_path) -> None:
    library = tmp_path / "ops.so"
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.load_op_library(str(library))
    with pytest.raises(OSError, match="does not exist"):
        tf.load_library(str(library))
    library.write_bytes(b"")
    for load in (tf.load_op_library, tf.load_library, tf.load_file_system_library):
        with pytest.raises(tf.errors.UnimplementedError, match=r"tf\.py_func"):
            load(str(library))


class Dense(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        with self.name_scope:
            self.weights = [tf.Variable(1.0, name="w"), {"b": tf.Variable(2.0, name="b")}]
            self.count = tf.Variable(0, trainable=False, name="count")

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.identity(x, name="out")


class MyTwoLayerHTTPNet(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = (Dense("first"), Dense("second"))
        self.again = self.layers[0]


def test_module() -> None:
    net = MyTwoLayerHTTPNet()
    assert net.name == "my_two_layer_http_net"
    assert [m.name for m in net.submodules] == ["first", "second"]
    names = [v.name for v in net.layers[0].variables]
    assert names == ["first/count:0", "first/w:0", "first/b:0"]
    assert len(net.variables) == 6
    assert len(net.trainable_variables) == 4
    assert net.layers[1](tf.constant(1.0)).name == "second/out:0"
    with pytest.raises(ValueError, match="not a valid module name"):
        Dense("1st")


def test_a_module_made_twice_gets_two_scopes() -> None:
    assert [Dense().count.name for _ in range(2)] == ["dense/count:0", "dense_1/count:0"]
