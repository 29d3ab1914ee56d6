"""What a server counts, for Prometheus: under TensorFlow Serving's names where it has one."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, HistogramMetricFamily, Metric

_PREFIX = ":tensorflow:serving:"
# Microseconds, each 1.8 times the one before: from 10 to about 20 minutes.
_MICROSECONDS = tuple(10 * 1.8**n for n in range(33))
_SIZES = (0.0, *(float(1 << n) for n in range(15)))


class Histogram:
    """How often values fell into each bucket, by labels.

    prometheus_client has such a thing, but looks at every bucket for every value.
    """

    def __init__(
        self, name: str, text: str, labels: Sequence[str], bounds: Sequence[float]
    ) -> None:
        self._name, self._text, self._labels, self._bounds = name, text, labels, bounds
        self._counts: dict[tuple[str, ...], list[float]] = {}

    def observe(self, labels: tuple[str, ...], value: float) -> None:
        """One value more. Called under the lock of the observer."""
        counts = self._counts.get(labels)
        if counts is None:  # the last is the sum
            counts = self._counts[labels] = [0.0] * (len(self._bounds) + 2)
        counts[bisect.bisect_left(self._bounds, value)] += 1
        counts[-1] += value

    def family(self) -> Metric:
        """As prometheus_client prints it."""
        made = HistogramMetricFamily(_PREFIX + self._name, self._text, labels=self._labels)
        for labels, counts in sorted(dict(self._counts).items()):
            total, buckets = 0.0, []
            for bound, count in zip((*self._bounds, "+Inf"), counts, strict=False):
                total += count
                buckets.append((str(bound), total))
            made.add_metric(labels, buckets, counts[-1])
        return made


class Metrics:
    """The numbers of one server. `state` gives those that are looked at rather than counted.

    `catch_up` counts what has been noted and not counted, before anyone looks.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counts: dict[tuple[str, str], int] = {}
        self.state: Callable[[], Iterable[Metric]] = lambda: ()
        self.catch_up: Callable[[], None] = lambda: None
        self.request_latency = Histogram(
            "request_latency", "Microseconds of a request.", ("model_name", "API", "entrypoint"),
            _MICROSECONDS,
        )  # fmt: skip
        self.examples = Histogram(
            "request_example_counts", "Examples in a request.", ("model",), _SIZES
        )
        self.batch_sizes = Histogram(
            "batching_session:batch_size", "Rows of a batch as it is run, padding and all.",
            ("model_name",), _SIZES,
        )  # fmt: skip
        self.padding = Histogram(
            "batching_session:padding_size", "Rows of padding in a batch.", ("model_name",), _SIZES
        )
        self.queuing = Histogram(
            "batching_session:queuing_latency", "Microseconds that a request waited for its batch.",
            ("thread_pool_name",), _MICROSECONDS,
        )  # fmt: skip
        self.registry.register(self)

    def count(self, model: str, status: str) -> None:
        """One request more. Called under the lock of the observer."""
        self._counts[model, status] = self._counts.get((model, status), 0) + 1

    def collect(self) -> Iterator[Metric]:
        """All there is: prometheus_client calls this."""
        self.catch_up()
        # Not a Counter: that would give the sample a name other than TensorFlow Serving's.
        requests = Metric(_PREFIX + "request_count", "Requests by status.", "untyped")
        for (model, status), count in sorted(dict(self._counts).items()):
            labels = {"model_name": model, "status": status}
            requests.add_sample(_PREFIX + "request_count", labels, count)
        yield requests
        for each in (self.request_latency, self.examples, self.batch_sizes, self.padding):
            yield each.family()
        yield self.queuing.family()
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
