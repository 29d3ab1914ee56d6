"""tf.saved_model.save and load_v2: objects with functions, variables, files and tables."""

from __future__ import annotations

import contextlib
import gc
import json
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.python.util import tf_inspect

import weft as tf
from tests.saved_model.models import DATA
from tests.saved_model.models import ROWS as LONG_ROWS
from tests.saved_model.objects import (
    ROWS,
    STORED,
    WORDS,
    derivatives,
    keras_model,
    looping,
    results,
    signatures,
    toy,
    trained,
)
from weft.client.eager import EagerExecution
from weft.lib.saved_model.files import parse_saved_model

RECORDED = json.loads((STORED / "answers.json").read_text())
Asking = Callable[[Any], Any]


@contextlib.contextmanager
def graphs() -> Iterator[Asking]:
    """Graphs are built. What is asked for is computed in one session of a graph."""
    sessions: dict[Any, Any] = {}

    def ask(fetches: Any) -> Any:
        graph = tf.get_default_graph()
        if graph not in sessions:
            sessions[graph] = tf.Session(graph=graph)
            sessions[graph].run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sessions[graph].run(fetches)

    with tf.Graph().as_default():
        yield ask
    for session in sessions.values():
        session.close()


@contextlib.contextmanager
def eagerly() -> Iterator[Asking]:
    def ask(fetches: Any) -> Any:
        return tf.nest.map_structure(lambda x: x.numpy(), fetches)

    with EagerExecution().as_default():
        yield ask


@pytest.fixture(params=[graphs, eagerly])
def ask(request: pytest.FixtureRequest) -> Iterator[Asking]:
    with request.param() as asking:
        yield asking


def resource_variable(value: Any, **kwargs: Any) -> Any:
    return tf.Variable(value, use_resource=True, **kwargs)


@pytest.fixture
def resources() -> Iterator[None]:
    with tf.variable_scope("", use_resource=True):
        tf.enable_resource_variables()
        yield
        tf.disable_resource_variables()


def saved(model: Any, path: Path, ask: Asking, **kwargs: Any) -> Path:
    """Saves; while graphs are built, from a session in which variables are initialized."""
    if tf.executing_eagerly():
        tf.saved_model.save(model, str(path), **kwargs)
        return path
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.save(model, str(path), **kwargs)
    return path


def new_graph() -> Any:
    return contextlib.nullcontext() if tf.executing_eagerly() else tf.Graph().as_default()


def answers(path: Path, ask: Asking) -> list[Any]:
    with new_graph():
        loaded = tf.saved_model.load_v2(str(path))
        return [value.tolist() for value in ask(results(tf, loaded))]


def test_what_tensorflow_saved(ask: Asking, tmp_path: Path) -> None:
    shutil.unpack_archive(STORED / "toy.zip", tmp_path)
    assert answers(tmp_path, ask) == RECORDED


def test_what_we_saved_and_saved_again(ask: Asking, tmp_path: Path, resources: None) -> None:
    (tmp_path / "words.txt").write_text(WORDS)
    model = toy(tf, str(tmp_path / "words.txt"))
    if tf.executing_eagerly():
        model.counts["calls"].assign(5)
    first = saved(model, tmp_path / "first", ask, signatures=signatures(model))
    (tmp_path / "words.txt").unlink()
    assert answers(first, ask) == RECORDED
    with new_graph():
        loaded = tf.saved_model.load_v2(str(first))
        second = saved(loaded, tmp_path / "second", ask, signatures=signatures(loaded))
    shutil.rmtree(first)
    assert answers(second, ask) == RECORDED


def test_objects_are_what_they_were(ask: Asking, tmp_path: Path) -> None:
    shutil.unpack_archive(STORED / "toy.zip", tmp_path)
    loaded = tf.saved_model.load_v2(str(tmp_path), tags="serve")
    assert [type(each).__name__ for each in (loaded.parts, loaded.counts)] == ["list", "dict"]
    assert loaded.w.trainable and not loaded.parts[0].b.trainable
    assert loaded.w.name == "w:0" and loaded.counts["calls"].dtype is tf.int32
    np.testing.assert_array_equal(ask(loaded.w + 0.0), [[1, 2], [3, 4]])
    traces = loaded.scaled.concrete_functions
    assert {trace.structured_input_signature[0][1] for trace in traces} == {2.0, 4.0}
    assert set(loaded.signatures) == {"serving_default", "numbers"}
    assert loaded.tensorflow_version.startswith("2.")
    with pytest.raises(ValueError, match=r"incompatible argument tags=\['train'\]"):
        tf.saved_model.load_v2(str(tmp_path), tags=["train"])
    with pytest.raises(ValueError, match=r"Could not find matching function(.|\n)*Option 2"):
        loaded.scaled(3.0, 17.0)
    with pytest.raises(TypeError, match="positional"):
        loaded.signatures["serving_default"](tf.constant(ROWS), tf.constant(ROWS))


def test_graphs_collect_variables_but_do_not_train_them(tmp_path: Path) -> None:
    shutil.unpack_archive(STORED / "toy.zip", tmp_path)
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path))
        assert {v.op.name for v in tf.global_variables()} == {"w", "b", "calls"}
        assert tf.trainable_variables() == []
        y = tf.reduce_sum(loaded.linear(ROWS))
        (gradient,) = tf.gradients(y, loaded.w)
        with tf.train.MonitoredSession() as session:
            np.testing.assert_array_equal(session.run(gradient), [[0, 0], [2.5, 2.5]])


def test_gradients_of_a_loaded_function_on_a_tape(tmp_path: Path) -> None:
    shutil.unpack_archive(STORED / "toy.zip", tmp_path)
    with EagerExecution().as_default():
        loaded = tf.saved_model.load_v2(str(tmp_path))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(loaded.linear(ROWS) ** 2)
        gradient = tape.gradient(y, loaded.w)
        with tf.GradientTape() as tape:
            same = tf.reduce_sum((tf.matmul(ROWS, loaded.w) + 2.0 + [10.0, 20.0]) ** 2)
        np.testing.assert_allclose(gradient, tape.gradient(same, loaded.w))


def test_shapes_that_follow_from_variables_are_kept(tmp_path: Path) -> None:
    """The shape of a sum follows from that of the variable, which is an argument of the body."""
    with EagerExecution().as_default():
        saved = tf.train.Checkpoint(offset=tf.Variable([1.0, 2.0]))
        row = tf.TensorSpec([None], tf.float32)
        saved.__call__ = tf.function(lambda x: x + saved.offset, input_signature=[row])
        tf.saved_model.save(saved, str(tmp_path))
    (library,) = (g.graph_def.library for g in parse_saved_model(str(tmp_path)).meta_graphs)
    (body,) = (f for f in library.function if any(n.op == "AddV2" for n in f.node_def))
    shapes = {node.op: node.attr["_output_shapes"].list.shape for node in body.node_def}
    assert [dim.size for dim in shapes["AddV2"][0].dim] == [2]
    assert [s.unknown_rank for s in body.attr["_input_shapes"].list.shape] == [False, True]
    loaded = tf.saved_model.load_v2(str(tmp_path))
    assert loaded(tf.placeholder(tf.float32, [None])).shape == [2]


def test_two_loads_share_nothing(ask: Asking, tmp_path: Path) -> None:
    shutil.unpack_archive(STORED / "toy.zip", tmp_path)
    one, other = (tf.saved_model.load_v2(str(tmp_path)) for _ in range(2))
    ask([one.scaled(tf.constant([1.0, 2.0]))["y"]])
    assert ask([one.counts["calls"] + 0, other.counts["calls"] + 0]) == [7, 5]


def test_the_only_function_with_a_signature_is_served(
    ask: Asking, tmp_path: Path, resources: None
) -> None:
    class Adder(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = {"empty": [], "pair": (tf.Module(), resource_variable(3.0))}
            self.helper = tf.function(lambda x: x)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.float32)])
        def __call__(self, a: Any, b: Any) -> Any:
            return [a + b * self.inner["pair"][1], a]

    path = saved(Adder(), tmp_path / "adder", ask)
    with new_graph():
        loaded = tf.saved_model.load_v2(str(path))
        assert isinstance(loaded.inner["pair"], tuple) and loaded.inner["empty"] == []
        assert ask(loaded(1.0, 2.0)) == [7.0, 1.0]
        served = loaded.signatures["serving_default"]
        found = ask(served(b=tf.constant(2.0), a=tf.constant(1.0)))
        assert found == {"output_0": 7.0, "output_1": 1.0}
        with pytest.raises(TypeError, match="at most 0 positional"):
            served(1.0, 2.0)


def test_a_session_serves_it(ask: Asking, tmp_path: Path, resources: None) -> None:
    (tmp_path / "words.txt").write_text(WORDS)
    model = toy(tf, str(tmp_path / "words.txt"))
    path = saved(model, tmp_path / "toy", ask, signatures=signatures(model))
    (tmp_path / "words.txt").unlink()
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        found = tf.saved_model.load(session, ["serve"], str(path)).signature_def
        numbers, linear = found["numbers"], found["serving_default"]
        feeds = {numbers.inputs["words"].name: [b"lake"], linear.inputs["x"].name: ROWS}
        fetches = [each.outputs["output_0"].name for each in (numbers, linear)]
        values = session.run(fetches, feeds)
    assert [value.tolist() for value in values] == [[1], RECORDED[0]]


def test_sparse_and_ragged_arguments(ask: Asking, tmp_path: Path) -> None:
    model = tf.Module()
    specs = [tf.RaggedTensorSpec([None, None], tf.float32), tf.SparseTensorSpec([None, 3])]
    model.f = tf.function(
        lambda r, s: {"r": r * 2.0, "s": tf.sparse.reduce_sum(s)}, input_signature=specs
    )
    path = saved(model, tmp_path / "model", ask)
    with new_graph():
        loaded = tf.saved_model.load_v2(str(path))
        sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 6.0], [2, 3])
        found = loaded.f(tf.ragged.constant([[1.0, 2.0], [], [3.0]]), sparse)
        values = ask([found["r"].values, found["r"].row_splits, found["s"]])
    assert [v.tolist() for v in values] == [[2.0, 4.0, 6.0], [0, 2, 2, 3], 7.0]


def test_tables_that_change_keep_what_they_hold(tmp_path: Path) -> None:
    with EagerExecution().as_default():
        model = tf.Module()
        model.table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
        model.table.insert(tf.constant(["q"]), tf.constant([7], tf.int64))
        model.find = tf.function(
            lambda x: model.table.lookup(x), input_signature=[tf.TensorSpec([None], tf.string)]
        )
        tf.saved_model.save(model, str(tmp_path / "model"))
        loaded = tf.saved_model.load_v2(str(tmp_path / "model"))
        assert loaded.find(["q", "z"]).numpy().tolist() == [7, -1]


def test_a_keras_model(ask: Asking, tmp_path: Path) -> None:
    model = keras_model(tf)
    wanted = model.predict(ROWS)
    if tf.executing_eagerly():
        tf.saved_model.save(model, str(tmp_path))
    else:
        with tf.keras.backend.get_session() as session, session.as_default():
            tf.saved_model.save(model, str(tmp_path))
    with new_graph():
        loaded = tf.saved_model.load_v2(str(tmp_path))
        served = loaded.signatures["serving_default"](features=tf.constant(ROWS))
        found = ask([loaded(ROWS), served["score"]])
        assert len(loaded.variables) == len(loaded.trainable_variables) == 4
        assert loaded(ROWS, training=True).shape.ndims == 2
    for each in found:
        np.testing.assert_allclose(each, wanted, rtol=1e-6)


def test_parameters_of_loaded_functions(tmp_path: Path) -> None:
    @tf.function
    def call(x: Any, training: bool = False, *, scale: float = 1.0) -> Any:
        return scale * x if training else x

    saved = tf.train.Checkpoint(__call__=call)
    call.get_concrete_function(tf.TensorSpec([], tf.float32))
    with tf.Session().as_default():
        tf.saved_model.save(saved, str(tmp_path))
    loaded = tf.saved_model.load_v2(str(tmp_path))
    for each in (call, loaded.__call__):
        found = tf_inspect.getfullargspec(each)
        assert found.args == ["x", "training"] and found.defaults == (False,)
        assert found.kwonlydefaults == {"scale": 1.0}


def test_losses_of_the_weights_of_a_keras_model(tmp_path: Path) -> None:
    with EagerExecution().as_default():
        halves, strength = tf.keras.initializers.Constant(0.5), tf.keras.regularizers.l2(0.01)
        inner = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
        inner.add(tf.keras.layers.Dense(1, None, False, halves, kernel_regularizer=strength))
        tf.saved_model.save(tf.keras.Sequential([inner]), str(tmp_path))
        loaded = tf.saved_model.load_v2(str(tmp_path))
        (loss,) = loaded.regularization_losses
        assert np.isclose(loss(), 0.0025)


def test_optimizers_in_functions_keep_their_state(tmp_path: Path) -> None:
    with EagerExecution().as_default():
        model = trained(tf)
        x = tf.constant([1.0, -1.0])
        model.step(x)
        tf.saved_model.save(model, str(tmp_path / "model"))
        loaded = tf.saved_model.load_v2(str(tmp_path / "model"))
        for each in (model, loaded):
            each.step(x)
            each.step(x)
        np.testing.assert_allclose(loaded.v.numpy(), model.v.numpy(), rtol=1e-6)
    nodes = parse_saved_model(tmp_path / "model").meta_graphs[0].object_graph_def.nodes
    (optimizer,) = [node for node in nodes if node.slot_variables]
    assert optimizer.user_object.identifier == "tf_deprecated_optimizer"


# ---- models of TensorFlow 1 ---------------------------------------------------------------------


def test_signatures_of_older_models(ask: Asking) -> None:
    loaded = tf.saved_model.load_v2(str(DATA / "simple"))
    served = loaded.signatures["serving_default"]
    assert [v.op.name for v in loaded.variables] == ["b"]  # the others are references
    y = served(x=tf.constant(LONG_ROWS))["y"]
    pruned = loaded.prune("x:0", "y:0")
    assert [v.tolist() for v in ask([y, pruned(LONG_ROWS)])] == [[[14.75], [9.25]]] * 2
    assert loaded.graph.get_tensor_by_name("y:0").shape.as_list() == [None, 1]


def test_older_models_with_files_and_several_graphs(ask: Asking) -> None:
    with pytest.raises(ValueError, match="requires a 'tags=' argument"):
        tf.saved_model.load_v2(str(DATA / "words"))
    loaded = tf.saved_model.load_v2(str(DATA / "words"), ["serve"])
    gc.collect()  # of its table there is only the model that remembers it
    sparse = tf.SparseTensor([[0, 0], [1, 1]], [1.0, 6.0], [2, 2])
    word = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"palmer"]))
    example = tf.train.Example(features=tf.train.Features(feature={"word": word}))
    scored = loaded.signatures["regress"](tf.constant([example.SerializeToString()]))
    total = loaded.signatures["sparse"](s=sparse)
    found = ask([scored["outputs"], total["t"]])
    assert [v.tolist() for v in found] == [[4.0], [2.0, 12.0]]
    assert len(loaded.asset_paths) == 1


def test_older_models_with_loops_and_conditionals(ask: Asking, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        scale = tf.get_variable("scale", initializer=2.0)
        step = tf.get_variable("step", initializer=1.0, use_resource=True)
        y = tf.while_loop(lambda y: y < 100.0, lambda y: y * scale + step, [x])
        y = tf.cond(x > 3.0, lambda: y, lambda: -y)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": y})
    served = tf.saved_model.load_v2(str(tmp_path / "model")).signatures["serving_default"]
    assert ask([served(tf.constant(value))["y"] for value in (1.0, 4.0)]) == [-127.0, 159.0]


# ---- what is refused ----------------------------------------------------------------------------


def test_what_cannot_be_saved(ask: Asking, tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with pytest.raises(ValueError, match="Expected a Trackable object for export"):
        tf.saved_model.save(3, path)
    model = tf.Module()
    with pytest.raises(ValueError, match="Expected a TensorFlow function to generate a signature"):
        tf.saved_model.save(model, path, signatures=lambda x: x)
    model.signatures = [resource_variable(1.0)]
    with pytest.raises(ValueError, match="has an attribute named 'signatures'"):
        tf.saved_model.save(model, path)
    del model.signatures
    hidden = resource_variable(2.0)
    model.f = tf.function(lambda x: x * hidden, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(AssertionError, match="references untracked object"):
        saved(model, tmp_path / "model", ask)
    nested = tf.function(lambda x: [x, [x]], input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(ValueError, match="Got non-flat outputs"):
        tf.saved_model.save(model, path, signatures=nested)

    @tf.function
    def inside() -> Any:
        tf.saved_model.save(tf.Module(), path)

    if not tf.executing_eagerly():
        with pytest.raises(AssertionError, match="not supported inside a traced"):
            inside()


def test_references_cannot_be_saved(tmp_path: Path) -> None:
    model = tf.Module()
    model.v = tf.Variable(1.0, use_resource=False)
    with tf.Session() as session:
        session.run(model.v.initializer)
        with pytest.raises(ValueError, match="it is a reference variable"):
            tf.saved_model.save(model, str(tmp_path / "model"))


@pytest.mark.parametrize("what", ["variables.index", "variables.data*", "*"])
def test_without_its_variables_a_model_is_not_found(tmp_path: Path, what: str) -> None:
    with EagerExecution().as_default():
        model = tf.Module()
        model.v = tf.Variable(1.0)
        tf.saved_model.save(model, str(tmp_path / "m"))
        for file in (tmp_path / "m" / "variables").glob(what):
            file.unlink()
        with pytest.raises(tf.errors.NotFoundError):
            tf.saved_model.load_v2(str(tmp_path / "m"))


def test_without_a_session_variables_are_those_of_keras(tmp_path: Path) -> None:
    model = tf.Module()
    model.v = tf.Variable(1.0, use_resource=True)
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.saved_model.save(model, str(tmp_path / "m"))
    assert not (tmp_path / "m" / "saved_model.pb").exists()
    tf.keras.backend.get_session().run(model.v.initializer)
    tf.saved_model.save(model, str(tmp_path / "m"))
    assert (tmp_path / "m" / "saved_model.pb").exists()
    tf.keras.backend.clear_session()


def test_a_model_that_was_saved_goes_with_its_functions(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        tf.keras.backend.get_session().run(tf.global_variables_initializer())
        tf.saved_model.save(model, str(tmp_path / "m"))
    gone = weakref.ref(model)
    tf.keras.backend.clear_session()
    del model
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("writer", ["weft", "TensorFlow"])
def test_loops_are_differentiated_where_they_are_loaded(writer: str, tmp_path: Path) -> None:
    with EagerExecution().as_default():
        if writer == "weft":
            tf.saved_model.save(looping(tf), str(tmp_path))
        else:
            shutil.unpack_archive(STORED / "loops.zip", tmp_path)
        found = derivatives(tf, tf.saved_model.load_v2(str(tmp_path)))
        values = [each.numpy() for each in found]
    wanted = json.loads((STORED / "loops.json").read_text())
    for value, want in zip(values, wanted, strict=True):
        np.testing.assert_allclose(value, want, 1e-4, 1e-5)
