"""Docstrings of the messages that programs make themselves; generated classes have none.

Imported for its effect by weft/__init__.py.
"""

from __future__ import annotations

from tensorboard.compat.proto.attr_value_pb2 import AttrValue, NameAttrList
from tensorboard.compat.proto.cluster_pb2 import ClusterDef, JobDef
from tensorboard.compat.proto.config_pb2 import (
    ConfigProto,
    GPUOptions,
    GraphOptions,
    OptimizerOptions,
    RunMetadata,
    RunOptions,
)
from tensorboard.compat.proto.event_pb2 import Event, LogMessage, SessionLog, TaggedRunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.histogram_pb2 import HistogramProto
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef, TensorInfo
from tensorboard.compat.proto.node_def_pb2 import NodeDef
from tensorboard.compat.proto.saver_pb2 import SaverDef
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryDescription, SummaryMetadata

from weft.protos import example

DOCS = {
    ConfigProto: """Settings of a session.

Args:
    device_count: how many devices of a kind to use, such as {"GPU": 0}.
    intra_op_parallelism_threads, inter_op_parallelism_threads: sizes of thread pools.
    allow_soft_placement: whether an operation may go elsewhere when its device is not there.
    log_device_placement: whether to log where operations go.
    gpu_options: a `tf.GPUOptions`.
    graph_options: a `tf.GraphOptions`.
    operation_timeout_in_ms: how long a step may wait.

Example:
    >>> config = tf.ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    >>> with tf.Session(config=config) as session:
    ...     int(session.run(tf.constant(1)))
    1
""",
    GPUOptions: """Settings of GPUs, a part of `tf.ConfigProto`.

Args:
    per_process_gpu_memory_fraction: how much memory of each this process may take.
    allow_growth: take memory as it is needed.
    visible_device_list: the numbers of those to use, as "0,2".

Example:
    >>> tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True)).gpu_options.allow_growth
    True
""",
    GraphOptions: "How graphs are optimized before they run: a part of `tf.ConfigProto`.",
    OptimizerOptions: "Which optimizations a session makes: a part of `tf.GraphOptions`.",
    RunOptions: """Settings of one step: `session.run(fetches, options=...)`.

Args:
    trace_level: `tf.RunOptions.FULL_TRACE` collects statistics in `tf.RunMetadata`.
    timeout_in_ms: how long the step may take.
    output_partition_graphs: whether the metadata holds the graphs that ran.
    report_tensor_allocations_upon_oom: kept, not used.

Example:
    >>> metadata = tf.RunMetadata()
    >>> options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    >>> x = session.run(tf.square(3.0), options=options, run_metadata=metadata)
    >>> len(metadata.step_stats.dev_stats) > 0
    True
""",
    RunMetadata: "Where a step writes its statistics: `session.run(fetches, run_metadata=...)`.",
    GraphDef: """A graph as a message, to be written and sent.

Args:
    node: a list of `tf.NodeDef`.
    library: functions that nodes call.
    versions: of the program that wrote it, and the oldest that reads it.

Example:
    >>> x = tf.constant(1, name="x")
    >>> data = tf.get_default_graph().as_graph_def().SerializeToString()
    >>> [node.name for node in tf.GraphDef.FromString(data).node]
    ['x']
""",
    NodeDef: """One operation of a `tf.GraphDef`.

Args:
    name: in the graph.
    op: its type, such as "MatMul".
    input: names of tensors ("a", "a:1") and, after them, of operations to wait for ("^b").
    device: where to run, as far as it is said.
    attr: attributes by name.

Example:
    >>> tf.constant(1, name="x").op.node_def.op
    'Const'
""",
    Summary: """Values for TensorBoard, as `tf.summary` operations compute them.

Args:
    value: a list of `tf.Summary.Value`.

Example:
    >>> summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)])
    >>> summary.value[0].simple_value
    0.5
""",
    Summary.Value: """One value of a `tf.Summary`.

Args:
    tag: what TensorBoard shows it as.
    simple_value, image, histo, audio, tensor: the value, in one of these forms.
    metadata: which plugin shows it.

Example:
    >>> tf.Summary.Value(tag="loss", simple_value=0.5).tag
    'loss'
""",
    SummaryMetadata: "Which of TensorBoard's plugins shows a value, and what it needs to know.",
    HistogramProto: "How many of the values of a tensor lie in each of many ranges.",
    Event: "One entry of an event file: a time, a step, and a summary, graph or message.",
    LogMessage: "A line of text in an event file.",
    TaggedRunMetadata: "The statistics of a step in an event file, under a name.",
    ClusterDef: "The jobs of a cluster: what `tf.train.ClusterSpec` writes.",
    JobDef: "A job of a cluster: its name, and the addresses of its tasks by number.",
    SaverDef: "The operations of a `tf.train.Saver` in its graph, and how it saves.",
    SummaryDescription: "Which plugin of TensorBoard a summary is for.",
    SessionLog: "A note in an event file that a session started, stopped or saved.",
    MetaGraphDef: "A graph with its collections, its saver and signatures: a `.meta` file.",
    TensorInfo: "The name, type and shape of a tensor in a signature.",
    AttrValue: "The value of an attribute of a node.",
    NameAttrList: "The name of a function, with attributes.",
    example.Example: """One example of a data set: features by name.

Args:
    features: a `tf.train.Features`.

Example:
    >>> name = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"Ada"]))
    >>> person = tf.train.Example(features=tf.train.Features(feature={"name": name}))
    >>> person.features.feature["name"].bytes_list.value[0]
    b'Ada'
""",
    example.Features: """A dict from names to features.

Args:
    feature: a dict from names to `tf.train.Feature`.

Example:
    >>> one = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    >>> sorted(tf.train.Features(feature={"a": one, "b": one}).feature)
    ['a', 'b']
""",
    example.Feature: """The values of one feature, all of one type.

Args:
    bytes_list, float_list, int64_list: one of these.

Example:
    >>> tf.train.Feature(float_list=tf.train.FloatList(value=[0.5])).WhichOneof("kind")
    'float_list'
""",
    example.BytesList: """Strings of bytes: a feature.

Args:
    value: a list of bytes.

Example:
    >>> len(tf.train.BytesList(value=[b"a", b"b"]).value)
    2
""",
    example.FloatList: """32-bit floating-point numbers: a feature.

Args:
    value: a list of numbers.

Example:
    >>> list(tf.train.FloatList(value=[0.5, 1.5]).value)
    [0.5, 1.5]
""",
    example.Int64List: """Integers: a feature.

Args:
    value: a list of integers.

Example:
    >>> list(tf.train.Int64List(value=[1, 2]).value)
    [1, 2]
""",
    example.FeatureList: "The values of one feature at every step of a sequence.",
    example.FeatureLists: "Sequences of features, by name.",
    example.SequenceExample: "One example that is a sequence: features of the whole, and of steps.",
}

for _message, _doc in DOCS.items():
    _message.__doc__ = _doc
