"""What tf.profiler answers with; the tensorboard package ships only the log that goes in."""

from __future__ import annotations

from tensorboard.compat.proto import tensor_shape_pb2

from weft.protos.declare import messages

# What is known of a node, and (`total_...`) of it and all below it.
_STATISTICS = """
    1 name string
    2 exec_micros int64
    {accelerator} accelerator_exec_micros int64
    {cpu} cpu_exec_micros int64
    3 requested_bytes int64
    {peak} peak_bytes int64
    {residual} residual_bytes int64
    {output} output_bytes int64
    4 parameters int64
    {flops} float_ops int64
    6 total_exec_micros int64
    {total_accelerator} total_accelerator_exec_micros int64
    {total_cpu} total_cpu_exec_micros int64
    7 total_requested_bytes int64
    {total_peak} total_peak_bytes int64
    {total_residual} total_residual_bytes int64
    {total_output} total_output_bytes int64
    8 total_parameters int64
    {total_flops} total_float_ops int64
"""
_NODE = _STATISTICS.format(
    accelerator=17, cpu=18, peak=24, residual=25, output=26, flops=13, total_accelerator=19,
    total_cpu=20, total_peak=27, total_residual=28, total_output=29, total_flops=14,
)  # fmt: skip
_GROUP = _STATISTICS.format(
    accelerator=12, cpu=13, peak=16, residual=17, output=18, flops=5, total_accelerator=14,
    total_cpu=15, total_peak=19, total_residual=20, total_output=21, total_flops=9,
)  # fmt: skip

_classes = messages(
    "weft/protos/profiler.proto",
    {
        "GraphNodeProto": _NODE
        + """
            21 run_count int64
            22 total_run_count int64
            23 total_definition_count int64
            10 devices [string]
            11 shapes [TensorShapeProto]
            12 children [GraphNodeProto]
        """,
        "MultiGraphNodeProto": _GROUP
        + """
            10 graph_nodes [GraphNodeProto]
            11 children [MultiGraphNodeProto]
        """,
        "Checker": "2 reports [string]",
        "AdviceProto": "1 checkers {Checker}",
    },
    imports=[tensor_shape_pb2.DESCRIPTOR],
)
GraphNodeProto = _classes["GraphNodeProto"]
MultiGraphNodeProto = _classes["MultiGraphNodeProto"]
AdviceProto = _classes["AdviceProto"]
GraphNodeProto.__doc__ = "A scope, operation or code line of a profile, with those below it."
MultiGraphNodeProto.__doc__ = "Operations of one kind in a profile, with those below them."
AdviceProto.__doc__ = "What the profiler's checks advise, by check."
