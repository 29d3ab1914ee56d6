"""What a profiler knows, as the message that TensorFlow's profiler keeps in files."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.tfprof_log_pb2 import ProfileProto

from weft.lib.profiler.op_log import Strings
from weft.lib.profiler.statistics import measured_nodes, nodes_of


def profile_proto(profiler: Any) -> ProfileProto:
    """Every node of the graph, and what each traced step measured of it."""
    message, strings = ProfileProto(), Strings()
    operations = profiler._graph.get_operations()
    numbers = {op.name: number for number, op in enumerate(operations)}
    known = nodes_of(profiler._graph, profiler._op_log, [])
    for op in operations:
        node = message.nodes[numbers[op.name]]
        node.name, node.op, node.id = op.name, op.type, numbers[op.name]
        node.float_ops = known[op.name].own["float_ops"]
        node.shape.extend(known[op.name].dims or ())
        node.op_types.extend(sorted(known[op.name].types))
        node.trace.CopyFrom(strings.code_def(op.traceback_with_start_lines))
        for index, tensor in enumerate(op.inputs):
            node.inputs[index] = numbers[tensor.op.name]
            node.src_output_index[numbers[tensor.op.name]] = tensor.value_index
    for step, run_metas in profiler._steps.items():
        message.steps.append(step)
        for run_meta in run_metas:
            message.has_trace = True
            _add_step(message, numbers, step, run_meta)
    message.id_to_string.update(strings.by_number())
    return message


def _add_step(message: Any, numbers: dict[str, int], step: int, run_meta: Any) -> None:
    for device, name, measured in measured_nodes(run_meta, numbers):
        run = message.nodes[numbers[name]].execs[step]
        run.run_count += 1
        start = measured.all_start_micros
        end = start + measured.all_end_rel_micros
        run.all_start_micros = min(run.all_start_micros or start, start)
        run.latest_end_micros = max(run.latest_end_micros, end)
        if device not in run.devices:
            run.devices.append(device)
        times = run.accelerator_execs if "gpu" in device.lower() else run.cpu_execs
        micros = measured.op_end_rel_micros or measured.all_end_rel_micros
        times[device].times.add(int64_values=[start, micros])
        memory = run.memory_execs.add(memory_micros=start)
        for output in measured.output:
            described = output.tensor_description.allocation_description
            memory.output_bytes += described.requested_bytes
