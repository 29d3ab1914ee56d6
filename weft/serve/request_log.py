"""One line of JSON for each request, or for some of them."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from typing import Any, TextIO


class RequestLog:
    """Writes to a file ("-": the standard error), or nowhere. `sampling` is the part written."""

    def __init__(self, path: str = "", sampling: float = 1.0) -> None:
        self.sampling = sampling
        self._file: TextIO | None = None
        self._own = False
        if path == "-":
            self._file = sys.stderr
        elif path:
            self._file, self._own = open(path, "a", encoding="utf-8"), True
        self.is_open = self._file is not None
        self._lock = threading.Lock()

    def wants(self, sampling: float | None = None) -> bool:
        """Whether this request is written, for a model with a part of its own or the server's."""
        if self._file is None:
            return False
        part = self.sampling if sampling is None else sampling
        return part >= 1.0 or random.random() < part

    def write(self, **fields: Any) -> None:
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1e6):06}Z"
        line = json.dumps({"time": stamp} | fields) + "\n"
        with self._lock:
            if self._file is not None:
                self._file.write(line)
                self._file.flush()

    def close(self) -> None:
        with self._lock:
            if self._own and self._file is not None:
                self._file.close()
            self._file, self.is_open = None, False
