"""The terminal, questions in it, and arrays that stay in an HDF5 file."""

from __future__ import annotations

import itertools
import os
import sys
from collections import defaultdict
from typing import Any, ClassVar

import numpy as np


def say(text: str, end: str = "\n") -> None:
    """Writes to the standard output, where Keras reports."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def import_h5py(purpose: str) -> Any:
    """The h5py package, or an error that says what it is needed for and where to get it."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            f"{purpose} requires h5py: `pip install h5py`, or install weft with its extra `keras`."
        ) from error
    return h5py


def ask_to_proceed_with_overwrite(filepath: Any) -> bool:
    """Asks until the answer is y or n; whether it was y."""
    question = f"[WARNING] {filepath} already exists - overwrite? [y/n]"
    again = itertools.repeat('Enter "y" (overwrite) or "n" (cancel).')
    answers = (input(each).strip().lower() for each in itertools.chain([question], again))
    agreed = next(answer for answer in answers if answer in ("y", "n")) == "y"
    if agreed:
        say("[TIP] Next time specify overwrite=True!")
    return agreed


def may_write(filepath: Any, overwrite: bool) -> bool:
    """Whether a file can be written: it is new, or the user lets go of the old one."""
    if overwrite or not os.path.isfile(filepath):
        return True
    return ask_to_proceed_with_overwrite(filepath)


class HDF5Matrix:
    """A part of an array in an HDF5 file, read when it is indexed."""

    refs: ClassVar[defaultdict[str, Any]] = defaultdict(int)

    def __init__(
        self,
        datapath: str,
        dataset: str,
        start: int = 0,
        end: int | None = None,
        normalizer: Any = None,
    ) -> None:
        h5py = import_h5py("HDF5Matrix")
        if datapath not in self.refs:
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self) -> int:
        return self.end - self.start

    def _normalized(self, values: Any) -> Any:
        return values if self.normalizer is None else self.normalizer(values)

    def __getitem__(self, key: Any) -> Any:
        return self._normalized(self.data[self._in_file(key)])

    def _in_file(self, key: Any) -> Any:
        """The index in the file for an index into this part of it."""
        if isinstance(key, slice):
            start, stop = key.start or 0, len(self) if key.stop is None else key.stop
            if stop + self.start > self.end:
                raise IndexError
            return slice(start + self.start, stop + self.start)
        if isinstance(key, (int, np.integer)):
            if key + self.start >= self.end:
                raise IndexError
            return key + self.start
        places = np.asarray(key) + self.start
        if places.size and places.max() >= self.end:
            raise IndexError
        return places.tolist()

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self), *self.data.shape[1:])

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def ndim(self) -> int:
        return self.data.ndim

    @property
    def size(self) -> Any:
        return np.prod(self.shape)
