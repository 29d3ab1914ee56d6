"""Callbacks that hand on what an epoch gave: to a CSV file, to a server, to functions."""

from __future__ import annotations

import csv
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from weft.lib.keras.callbacks.base import Callback, Logs
from weft.lib.platform import tf_logging as logging
from weft.storage import file_io


class CSVLogger(Callback):
    """Writes a line per epoch to a file; `append` goes on with one that is there."""

    def __init__(self, filename: str, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.sep, self.append = filename, separator, append
        self.writer: Any = None
        self.keys: list[str] | None = None
        self.append_header = True
        self.csv_file: Any = None

    def on_train_begin(self, logs: Logs = None) -> None:
        if self.append and file_io.exists(self.filename):
            with open(self.filename) as before:
                self.append_header = not before.readline()
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="\n")

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
        if self.model.stop_training:
            # An epoch that was cut short may have no validation.
            logs = {key: logs.get(key, "NA") for key in self.keys}
        if self.writer is None:
            self._open_table()
        self.writer.writerow({"epoch": epoch} | {key: _cell(logs[key]) for key in self.keys})
        self.csv_file.flush()

    def _open_table(self) -> None:
        self.writer = csv.DictWriter(
            self.csv_file, ["epoch", *(self.keys or [])], delimiter=self.sep
        )
        if self.append_header:
            self.writer.writeheader()

    def on_train_end(self, logs: Logs = None) -> None:
        self.csv_file.close()
        self.writer = None


def _cell(value: Any) -> Any:
    is_scalar = isinstance(value, np.ndarray) and value.ndim == 0
    if isinstance(value, Iterable) and not isinstance(value, str) and not is_scalar:
        return f'"[{", ".join(map(str, value))}]"'
    return value


class RemoteMonitor(Callback):
    """Posts what each epoch gave to a server, as JSON or as JSON in a field of a form."""

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: dict[str, str] | None = None,
        send_as_json: bool = False,
    ) -> None:
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        content = json.dumps({"epoch": epoch} | (logs or {}), default=_plain)
        if self.send_as_json:
            body, kind = content, "application/json"
        else:
            body = urllib.parse.urlencode({self.field: content})
            kind = "application/x-www-form-urlencoded"
        request = urllib.request.Request(
            self.root + self.path, body.encode(), {"Content-Type": kind} | (self.headers or {})
        )
        try:
            urllib.request.urlopen(request).close()
        except (urllib.error.URLError, OSError):
            logging.warning(f"Warning: could not reach RemoteMonitor root server at {self.root}")


def _plain(value: Any) -> Any:
    return np.asarray(value).tolist()


class LambdaCallback(Callback):
    """Calls functions; those of other events go by their names: `on_test_begin=...`."""

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_batch_begin: Callable[..., Any] | None = None,
        on_batch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
        }
        vars(self).update(kwargs)
        vars(self).update({event: call for event, call in given.items() if call is not None})
