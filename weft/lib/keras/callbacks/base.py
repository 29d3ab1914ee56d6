"""Callbacks: what is told of a training as it goes on; and the list of them that a loop holds."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from weft.lib.platform import tf_logging as logging

Logs = dict[str, Any] | None

# A list warns when its callbacks take longer than this, and about as long as the step itself.
SLOW_SECONDS = 0.1


class Callback:
    """Told of batches, epochs and whole runs. All methods do nothing until overridden.

    `model` is the model that is trained, `params` what is known of the run.
    """

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def set_model(self, model: Any) -> None:
        self.model = model

    def on_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Another name of `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Another name of `on_train_batch_end`."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None: ...

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None: ...

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> None: ...

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None: ...

    def on_predict_batch_begin(self, batch: int, logs: Logs = None) -> None: ...

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> None: ...

    def on_train_begin(self, logs: Logs = None) -> None: ...

    def on_train_end(self, logs: Logs = None) -> None: ...

    def on_test_begin(self, logs: Logs = None) -> None: ...

    def on_test_end(self, logs: Logs = None) -> None: ...

    def on_predict_begin(self, logs: Logs = None) -> None: ...

    def on_predict_end(self, logs: Logs = None) -> None: ...


class CallbackList:
    """Tells all of its callbacks, in order, and notices when they are slow."""

    def __init__(self, callbacks: Any = None, queue_length: int = 10) -> None:
        self.callbacks = list(callbacks or [])
        self.queue_length = queue_length
        self.params: dict[str, Any] = {}
        self.model: Any = None
        self._reset_timing()

    def _reset_timing(self) -> None:
        self._step_seconds = 0.0
        self._began = 0.0
        self._seconds: defaultdict[str, deque[float]] = defaultdict(
            lambda: deque(maxlen=self.queue_length)
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)

    def append(self, callback: Any) -> None:
        self.callbacks.append(callback)

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params
        self._tell("set_params", params)

    def set_model(self, model: Any) -> None:
        self.model = model
        self._tell("set_model", model)

    def _tell(self, event: str, *arguments: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, event)(*arguments)

    # ---- batches ----

    def _call_batch_hook(self, mode: str, hook: str, batch: int, logs: Logs = None) -> None:
        if not self.callbacks:
            return
        event = f"on_{mode}_batch_{hook}"
        start = time.time()
        if hook == "begin":
            self._began = start
        else:
            self._step_seconds = start - self._began
        self._tell(event, batch, logs or {})
        self._seconds[event].append(time.time() - start)
        median = statistics.median(self._seconds[event])
        if median > SLOW_SECONDS and 0.0 < 0.95 * self._step_seconds < median:
            logging.warning(
                "Method (%s) is slow compared to the batch update (%f). Check your callbacks.",
                event,
                median,
            )

    def on_batch_begin(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("train", "begin", batch, logs)

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("train", "end", batch, logs)

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("train", "begin", batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("train", "end", batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("test", "begin", batch, logs)

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("test", "end", batch, logs)

    def on_predict_batch_begin(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("predict", "begin", batch, logs)

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> None:
        self._call_batch_hook("predict", "end", batch, logs)

    # ---- epochs and runs ----

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        self._tell("on_epoch_begin", epoch, logs or {})
        self._reset_timing()

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self._tell("on_epoch_end", epoch, logs or {})

    def _call_begin_hook(self, mode: str) -> None:
        self._tell(f"on_{mode}_begin", None)

    def _call_end_hook(self, mode: str) -> None:
        self._tell(f"on_{mode}_end", None)

    def on_train_begin(self, logs: Logs = None) -> None:
        self._tell("on_train_begin", logs)

    def on_train_end(self, logs: Logs = None) -> None:
        self._tell("on_train_end", logs)

    def on_test_begin(self, logs: Logs = None) -> None:
        self._tell("on_test_begin", logs)

    def on_test_end(self, logs: Logs = None) -> None:
        self._tell("on_test_end", logs)

    def on_predict_begin(self, logs: Logs = None) -> None:
        self._tell("on_predict_begin", logs)

    def on_predict_end(self, logs: Logs = None) -> None:
        self._tell("on_predict_end", logs)
