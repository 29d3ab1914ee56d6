"""Recording this process: on, off, and what came of it, with XLA's profile if it is wanted."""

from __future__ import annotations

import gzip
import json
import threading
from typing import Any

from weft.runtime.recording import probes
from weft.runtime.recording.recorder import MOST, RECORDER, Probe, Recorder
from weft.runtime.recording.xla_profile import XlaProfile, operations_of
from weft.runtime.xla import compile as xla_compile
from weft.runtime.xla.names import PROFILE


class Control:
    """Starts and stops the recorder. A recording that is not asked for any more ends by itself."""

    def __init__(self) -> None:
        self._profile: XlaProfile | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        RECORDER.register([*probes.PROBES, Probe(xla_compile, "load", self._load)])

    def start(
        self, operations: bool = True, most: int = MOST, seconds: float = 0.0, whole: bool = False
    ) -> None:
        """Begins; ends after so many seconds, if there is no `stop` before that.

        Of a long recording, operations inside of programs are taken in part, or as a `whole`.
        """
        with self._lock:
            self._end()
            if operations:
                self._profile, PROFILE.is_on = XlaProfile(whole), True
                self._profile.start()
            RECORDER.start(most)
            if seconds:
                self._timer = threading.Timer(seconds, self._give_up)
                self._timer.daemon = True
                self._timer.start()

    def _load(self, original: Any, recorder: Recorder) -> Any:
        """XLA's profile begins when jax is first used, where that was not yet."""

        def load() -> Any:
            jax = original()
            if self._profile is not None and recorder.is_on:
                self._profile.start()
            return jax

        return load

    def _give_up(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> list[bytes]:
        if self._timer is not None:
            self._timer.cancel()
        RECORDER.stop()
        profile, self._profile, self._timer = self._profile, None, None
        PROFILE.is_on = False
        probes.forget_labels()
        return profile.stop() if profile is not None else []

    def pause(self) -> None:
        """Records no more. What there is stays until `stop` asks for it, which takes longer."""
        RECORDER.stop()

    def stop(self) -> dict[str, Any]:
        """Ends; everything that was recorded."""
        return self.stop_with_profiles()[0]

    def stop_with_profiles(self) -> tuple[dict[str, Any], list[bytes]]:
        """The same, with XLA's profiles as they are."""
        with self._lock:
            profiles = self._end()
            return RECORDER.recording(operations_of(profiles)), profiles


CONTROL = Control()


def packed(recording: Any) -> bytes:
    """A recording for a file or a message."""
    return gzip.compress(json.dumps(recording, separators=(",", ":")).encode(), 1)


def unpacked(data: bytes) -> Any:
    return json.loads(gzip.decompress(data))
