"""tf.test.Benchmark: classes whose `benchmark*` methods measure, and report what they found."""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from typing import Any

from weft.graph.stacks import get_default_session

_classes: list[type[Benchmark]] = []


class Benchmark:
    """Subclasses are found by `tf.test.main --benchmarks=<regex>`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _classes.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether there is nothing to run: true of this class only."""
        return cls is Benchmark

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        """Prints one measurement; times are in seconds, throughput in MB/s.

        The name is that of the benchmark method that was started, unless `name` is given.
        """
        if extras is not None and not isinstance(extras, dict):
            raise TypeError("extras must be a dict")
        for metric in metrics or ():
            if not {"name", "value"} <= metric.keys():
                raise TypeError("metric must have a 'name' and a 'value' field")
        numbers = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time,
                   "throughput": throughput}  # fmt: skip
        lines = [f"name: {json.dumps(self._full_name(name))}"]
        lines += [f"{key}: {value}" for key, value in numbers.items() if value is not None]
        for key, value in (extras or {}).items():
            lines.append(f"extras {{ key: {json.dumps(key)} value {{ {_entry(value)} }} }}")
        for metric in metrics or ():
            lines.append(
                f"metrics {{ name: {json.dumps(metric['name'])} value: {metric['value']} }}"
            )
        sys.stdout.write("entry {\n" + "".join(f"  {line}\n" for line in lines) + "}\n")

    def _full_name(self, name: str | None) -> str:
        """Class and method: the outermost method of this object that is running now."""
        frame, method = sys._getframe(2), name
        while name is None and frame is not None:
            if frame.f_locals.get("self") is self:
                method = frame.f_code.co_name
            frame = frame.f_back  # type: ignore[assignment]
        return f"{type(self).__name__}.{method}"

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: dict[Any, Any] | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Times `min_iters` steps after `burn_iters` others, and reports their median.

        Returns what it reported. `store_trace` adds a traced step to it, in Chrome's format;
        `store_memory_usage` the bytes of all outputs of a traced step.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        wall_time = statistics.median(times) if times else -1.0
        extras = dict(extras or {})
        traces: dict[str, Any] = {}
        if store_trace or store_memory_usage:
            stats = _traced(sess, op_or_tensor, feed_dict)
            if store_trace:
                from weft.client.timeline import Timeline

                traces["full_trace_chrome_format"] = Timeline(stats).generate_chrome_trace_format()
            if store_memory_usage:
                extras["allocator_maximum_num_bytes_cpu"] = _output_bytes(stats)
        values: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": wall_time,
            "extras": extras,
            "name": self._full_name(name).partition(".")[2],
            "throughput": mbs / wall_time,
        }
        self.report_benchmark(**values)
        extras.update(traces)
        return values | {"name": name}

    def evaluate(self, tensors: Any) -> Any:
        """The values of `tensors` in the default session."""
        session = get_default_session()
        if session is None:
            raise ValueError("evaluate needs a default session: use `with tf.Session():`")
        return session.run(tensors)


def _entry(value: Any) -> str:
    if isinstance(value, (int, float)):
        return f"double_value: {value}"
    return f"string_value: {json.dumps(str(value))}"


def _traced(sess: Any, fetch: Any, feed_dict: Any) -> Any:
    from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

    metadata = RunMetadata()
    options = RunOptions(trace_level=RunOptions.FULL_TRACE)
    sess.run(fetch, feed_dict=feed_dict, options=options, run_metadata=metadata)
    return metadata.step_stats


def _output_bytes(stats: Any) -> int:
    return sum(
        output.tensor_description.allocation_description.requested_bytes
        for device in stats.dev_stats
        for node in device.node_stats
        for output in node.output
    )


def run_benchmarks(pattern: str) -> None:
    """Runs the methods whose full name (module, class, method) matches; "all" means all."""
    for cls in _classes:
        made = None
        for method in dir(cls):
            full = f"{cls.__module__}.{cls.__name__}.{method}"
            if not method.startswith("benchmark") or not callable(getattr(cls, method)):
                continue
            if pattern == "all" or re.search(pattern, full):
                made = made or cls()
                getattr(made, method)()


def benchmark_config() -> Any:
    """A ConfigProto under which steps run everything that was asked for."""
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    config = ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.dependency_optimization = rewrites.OFF
    return config
