"""What a server counts, for Prometheus: under TensorFlow Serving's names where it has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

_PREFIX = ":tensorflow:serving:"
# Microseconds, each 1.8 times the one before: from 10 to about 20 minutes.
_BUCKETS = tuple(10 * 1.8**n for n in range(33))
_SIZES = tuple(float(1 << n) for n in range(15))


class Metrics:
    """The numbers of one server. `state` gives those that are looked at rather than counted."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counts: dict[tuple[str, str], int] = {}
        self.state: Callable[[], Iterable[Metric]] = lambda: ()
        self.request_latency = self._histogram(
            "request_latency", "Microseconds of a request.", ("model_name", "API", "entrypoint")
        )
        self.examples = self._histogram(
            "request_example_counts", "Examples in a request.", ("model",), _SIZES
        )
        self.batch_sizes = self._histogram(
            "batching_session:batch_size", "Rows of a batch as it is run, padding and all.",
            ("model_name",), _SIZES,
        )  # fmt: skip
        self.padding = self._histogram(
            "batching_session:padding_size", "Rows of padding in a batch.", ("model_name",),
            (0.0, *_SIZES),
        )  # fmt: skip
        self.queuing = self._histogram(
            "batching_session:queuing_latency", "Microseconds that a request waited for its batch.",
            ("thread_pool_name",),
        )  # fmt: skip
        self.registry.register(self)  # type: ignore[arg-type]

    def _histogram(
        self, name: str, text: str, labels: tuple[str, ...], buckets: tuple[float, ...] = _BUCKETS
    ) -> Any:
        return Histogram(_PREFIX + name, text, labels, registry=self.registry, buckets=buckets)

    def count(self, model: str, status: str) -> None:
        """One request more. Called under the lock of the observer."""
        self._counts[model, status] = self._counts.get((model, status), 0) + 1

    def collect(self) -> Iterator[Metric]:
        """What is not a histogram: prometheus_client calls this."""
        # Not a Counter: that would give the sample a name other than TensorFlow Serving's.
        requests = Metric(_PREFIX + "request_count", "Requests by status.", "untyped")
        for (model, status), count in sorted(dict(self._counts).items()):
            labels = {"model_name": model, "status": status}
            requests.add_sample(_PREFIX + "request_count", labels, count)
        yield requests
        yield from self.state()

    def text(self) -> bytes:
        """The page that Prometheus reads."""
        return bytes(generate_latest(self.registry))


def gauge(
    name: str, text: str, labels: tuple[str, ...], rows: Iterable[tuple[tuple[str, ...], float]]
) -> Metric:
    """Values by labels, as they are now."""
    made = GaugeMetricFamily(_PREFIX + name, text, labels=labels)
    for values, number in rows:
        made.add_metric(values, number)
    return made
