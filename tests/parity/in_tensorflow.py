"""Replays samples in TensorFlow for `record.py`, which starts this and asks of one after another.

Runs under TensorFlow 1.15 (Python 3.7) and under TensorFlow 2 (`compat.v1`), in graph mode on the
CPU, without graph optimizations. It knows nothing of weft or of its tests: requests say all there
is to know, as plain dicts of lists, bytes and arrays spelled as (dtype, shape, content).
"""

from __future__ import annotations

import importlib
import os
import pickle
import struct
import sys
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)

import numpy as np
import tensorflow
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import op_def_library, op_def_registry

tf = tensorflow.compat.v1
tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

RESOURCE = 20
NO_KERNEL = ("No OpKernel was registered", "could not find device", "Could not find device")
REFUSED = (ValueError, tf.errors.OpError)
IS_OLD = not hasattr(op_def_library, "_apply_op_helper")

if IS_OLD:
    # Their operations are declared when they are imported.
    for _name in (
        "factorization",
        "framework",
        "image",
        "layers",
        "nearest_neighbor",
        "resampler",
        "rnn",
        "seq2seq",
        "text",
    ):
        importlib.import_module("tensorflow.contrib." + _name)

    _library = op_def_library.OpDefLibrary()
    _definitions = op_def_registry.get_registered_ops()
    for _definition in _definitions.values():
        _library.add_op(_definition)


class Unaskable(Exception):
    """The sample does not fit TensorFlow's signature of the op."""


def definition_of(op):
    definition = _definitions.get(op) if IS_OLD else op_def_registry.get(op)
    if definition is None:
        raise Unaskable("TensorFlow has no such op")
    return definition


def apply(op, keywords):
    """The node of an operation, called by the names of TensorFlow's own registry."""
    if IS_OLD:
        _library.apply_op(op, **keywords)
    else:
        op_def_library._apply_op_helper(op, name=None, **keywords)
    return tf.get_default_graph().get_operations()[-1]


# ---- arrays as they travel --------------------------------------------------------------------


def to_array(spelled):
    dtype, shape, content = spelled
    if dtype == "string":
        array = np.empty(len(content), object)
        array[:] = content
    elif dtype == "bfloat16":
        array = np.frombuffer(content, np.uint16).view(tf.bfloat16.as_numpy_dtype)
    else:
        array = np.frombuffer(content, dtype).copy()
    return array.reshape(shape)


def spell(dtype, array):
    if dtype == "string":
        return dtype, array.shape, [bytes(item) for item in array.ravel().tolist()]
    if array.dtype.names:  # of quantized numbers
        array = array[array.dtype.names[0]]
    return dtype, array.shape, array.tobytes()


def is_array(value):
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str)


# ---- a sample's node --------------------------------------------------------------------------


class Call:
    """The sample's node in a fresh graph, with its inputs known as a mode says."""

    def __init__(self, sample, mode):
        self.definition = definition_of(sample["op"])
        self.constant_args, self.dims = mode
        self.feeds = {}
        self.variables = []  # ref tensors, or (handle, dtype)
        self.initializers = []
        self.flat = []
        keywords = attributes(sample, self.definition)
        if len(self.definition.input_arg) != len(sample["inputs"]):
            wanted = [arg.name for arg in self.definition.input_arg]
            raise Unaskable("%d inputs given, %s wanted" % (len(sample["inputs"]), wanted))
        for arg, value in zip(self.definition.input_arg, sample["inputs"]):
            many = isinstance(value, list)
            made = [self.tensor(arg, item) for item in (value if many else [value])]
            keywords[arg.name] = made if many else made[0]
        self.op = apply(sample["op"], keywords)
        self.outputs = list(self.op.outputs)

    def tensor(self, arg, value):
        is_variable = arg.is_ref or arg.type == RESOURCE
        made = self.variable(arg, *value) if is_variable else self.given(*value)
        self.flat.append(made)
        return made

    def given(self, dtype, shape, content):
        value = to_array((dtype, shape, content))
        if self.constant_args and dtype in ("int32", "int64", "bool"):
            return tf.constant(value, dtype)
        placeholder = tf.placeholder(dtype, self.dims[len(self.flat)])
        self.feeds[placeholder] = value
        return placeholder

    def variable(self, arg, dtype, shape, content):
        value = None if content is None else tf.constant(to_array((dtype, shape, content)), dtype)
        if arg.is_ref:
            tensor = tf.raw_ops.VariableV2(shape=shape, dtype=dtype)
            self.variables.append(tensor)
            if value is not None:
                self.initializers.append(tf.raw_ops.Assign(ref=tensor, value=value).op)
        else:
            name = "variable_%d" % len(self.variables)
            tensor = tf.raw_ops.VarHandleOp(shape=shape, dtype=dtype, shared_name=name)
            self.variables.append((tensor, dtype))
            if value is not None:
                made = tf.raw_ops.AssignVariableOp(resource=tensor, value=value)
                self.initializers.append(made)
        return tensor

    def states(self):
        """For every variable: whether it holds a value, and the value."""
        pairs = []
        for variable in self.variables:
            if isinstance(variable, tuple):
                handle, dtype = variable
                full = tf.raw_ops.VarIsInitializedOp(resource=handle)
                pairs.append((full, tf.raw_ops.ReadVariableOp(resource=handle, dtype=dtype)))
            else:
                full = tf.raw_ops.IsVariableInitialized(ref=variable)
                pairs.append((full, tf.identity(variable)))
        return pairs

    def fed(self):
        """What to feed. Copies, because TensorFlow's in-place ops write into what they are fed."""
        return {placeholder: value.copy() for placeholder, value in self.feeds.items()}

    def session(self):
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        config.graph_options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        session = tf.Session(config=config)
        session.run(self.initializers)
        return session


def attributes(sample, definition):
    kinds = {attr.name: attr.type for attr in definition.attr}
    unknown = sorted(set(sample["attrs"]) - set(kinds))
    if unknown:
        raise Unaskable("TensorFlow's op has no attr %s" % unknown)
    # What follows from the inputs may not be said again; the rest must be, if only as None.
    inferred = {
        name
        for arg in definition.input_arg
        for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
    }
    given = {a.name: None for a in definition.attr if a.HasField("default_value")}
    given.update((name, attribute(kinds[name], v)) for name, v in sample["attrs"].items())
    return {name: value for name, value in given.items() if name not in inferred}


def attribute(kind, value):
    if kind.startswith("list("):
        return [attribute(kind[5:-1], item) for item in value]
    if kind == "type":
        return tf.as_dtype(value)
    if kind == "tensor":
        array = to_array(value)
        return tf.make_tensor_proto(array, value[0], array.shape)
    if kind == "shape":
        return tf.TensorShape(value)
    return value


# ---- what TensorFlow makes of it ---------------------------------------------------------------


def record(sample):
    """A dict with the fields of `store.Record`."""
    result = {}
    try:
        attributes(sample, definition_of(sample["op"]))
        with tf.Graph().as_default():
            try:
                Call(sample, sample["modes"]["known"])
            except TypeError as problem:
                raise Unaskable(str(problem))  # of a type that the op does not take
            except (ValueError, tf.errors.OpError):
                pass
    except Unaskable as problem:
        return {"missing": str(problem)}
    result["shapes"] = {
        name: static_shapes(sample, mode, result if name == "known" else {})
        for name, mode in sample["modes"].items()
    }
    compute(sample, result)
    return result


def again(sample):
    """Whether a second run gives something else: a few kernels return memory nobody wrote to."""
    for size in range(8, 4096, 8):
        np.full(size, 0x5A, np.uint8)
    return record(sample)


def compute(sample, result):
    run(sample, result)
    if "outputs" in result and sample["differentiate"] and "build_error" not in result:
        differentiate(sample, result)


def static_shapes(sample, mode, result):
    with tf.Graph().as_default():
        try:
            shapes = [t.shape for t in Call(sample, mode).outputs]
        except REFUSED as error:
            result.update(build_error=type(error).__name__, message=brief(error))
            return None
    return [None if each.ndims is None else tuple(each.as_list()) for each in shapes]


def run(sample, result):
    with tf.Graph().as_default():
        try:
            # Where known shapes already fail, ask the kernel by hiding them.
            call = Call(sample, sample["modes"]["nothing" if "build_error" in result else "known"])
        except REFUSED:
            return
        try:
            execute(call, result)
        except tf.errors.OpError as error:
            if any(text in str(error) for text in NO_KERNEL):
                result["missing"] = "TensorFlow has no CPU kernel for it"
            else:
                result.update(error=type(error).__name__, message=brief(error))


def execute(call, result):
    states = call.states()
    fetched = [t for t in call.outputs if t.dtype.base_dtype != tf.resource]
    with call.session() as session:
        values = session.run([fetched, call.op], call.fed())[0]
        result["outputs"] = [made(t, value) for t, value in zip(fetched, values)]
        if states:
            result["state"] = [
                made(read, session.run(read)) if session.run(full) else None
                for full, read in states
            ]


def made(tensor, value):
    dtype = tensor.dtype.base_dtype.name
    return spell(dtype, np.asarray(value, object if dtype == "string" else None))


def differentiate(sample, result):
    with tf.Graph().as_default():
        call = Call(sample, sample["modes"]["known"])
        xs = [x for x, wanted in zip(call.flat, sample["differentiate"]) if wanted]
        found = list(zip(call.outputs, result["outputs"]))
        pairs = [(y, value[1]) for y, value in found if is_inexact(value[0])]
        if not xs or not pairs:
            return
        try:
            grads = gradients(pairs, xs)
            with call.session() as session:
                result["grads"] = fetch(session, grads, call)
                result["grads2"] = second(session, grads, result["grads"], xs, call)
        except (
            LookupError,
            ValueError,
            TypeError,
            NotImplementedError,
            tf.errors.OpError,
        ) as error:
            if "grads" not in result:
                result["grad_error"] = type(error).__name__


def is_inexact(dtype):
    return tf.as_dtype(dtype).is_floating or tf.as_dtype(dtype).is_complex


def gradients(pairs, xs):
    seeds = [tf.constant(pattern(shape, y.dtype.base_dtype), y.dtype) for y, shape in pairs]
    found = tf.gradients([y for y, _ in pairs], xs, seeds)
    return [None if g is None else tf.convert_to_tensor(g) for g in found]


def pattern(shape, dtype):
    """The `grad_ys` of a given shape, as in tests/ops/sample.py."""
    count = int(np.prod(shape, dtype=np.int64))
    values = ((np.arange(count) * 7 + 3) % 11 - 4.75) / 4
    if dtype.is_complex:
        values = values + 1j * ((np.arange(count) * 5 + 1) % 7 - 2.5) / 4
    return values.reshape(shape).astype(dtype.as_numpy_dtype)


def fetch(session, grads, call):
    present = [g for g in grads if g is not None]
    values = iter(session.run(present, call.fed()))
    return [None if g is None else made(g, next(values)) for g in grads]


def second(session, grads, values, xs, call):
    """Gradients of the gradients; None where TensorFlow has none."""
    pairs = [(g, v[1]) for g, v in zip(grads, values) if g is not None and v is not None]
    if not pairs:
        return None
    found = gradients(pairs, xs)
    return fetch(session, found, call) if any(g is not None for g in found) else None


def brief(error):
    lines = (getattr(error, "message", None) or str(error)).split("\n")
    told = [line.strip() for line in lines if line.strip()]
    unwanted = ("Detected at", "File ", "Node:", "Graph execution error", "2 root error(s)")
    told = [line for line in told if not line.startswith(unwanted)]
    return told[0].replace("(0) ", "", 1)[:200] if told else ""


def main():
    while True:
        size = sys.stdin.buffer.read(4)
        if not size:
            return
        sample = pickle.loads(sys.stdin.buffer.read(struct.unpack("<I", size)[0]))
        try:
            answer = [record(sample), again(sample)]
        except Exception as problem:
            answer = "%s: %s" % (type(problem).__name__, problem)
        content = pickle.dumps(answer, 2)
        answers.write(struct.pack("<I", len(content)) + content)
        answers.flush()


if __name__ == "__main__":
    main()
