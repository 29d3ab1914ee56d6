"""Windows: overlapping stretches of a dataset, as datasets or as batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.errors import OpError
from weft.ops.dataset.declare import INPUT, dataset_op, scalar
from weft.ops.dataset.objects import Dataset, Element, Iterator, Over, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.sources import Listed
from weft.ops.dataset.values import batch
from weft.ops.kit.shared import invalid


class Window(Unary):
    """`size` elements, each `stride` after the other; the next window is `shift` further on."""

    def __init__(
        self, input: Dataset, size: int, shift: int, stride: int, drop: bool, batches: bool = False
    ) -> None:
        super().__init__(input)
        self.size, self.shift, self.stride = size, shift, stride
        self.drop, self.batches = drop, batches

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Windows(self.input.open(scope), self)

    def cardinality(self) -> int:
        n = self.input.cardinality()
        if n < 0:
            return n
        if not self.drop:
            return -(-n // self.shift)
        span = (self.size - 1) * self.stride + 1
        return max(0, (n - span) // self.shift + 1)


class Windows(Over):
    state = ("buffer", "ended", "to_skip")

    def __init__(self, input: Iterator, window: Window) -> None:
        super().__init__(input)
        self.window = window
        self.span = (window.size - 1) * window.stride + 1
        self.buffer: list[Any] = []
        self.ended, self.to_skip = False, 0

    def next(self) -> Any:
        window = self.window
        self._skip()
        while not self.ended and len(self.buffer) < self.span:
            self._take()
        if not self.buffer or (window.drop and len(self.buffer) < self.span):
            return None
        chosen = self.buffer[: self.span : window.stride]
        self.to_skip = max(window.shift - len(self.buffer), 0)
        del self.buffer[: window.shift]
        for item in chosen:
            if isinstance(item, OpError):
                raise item
        return batch(chosen) if window.batches else _as_datasets(chosen)

    def _skip(self) -> None:
        while self.to_skip and not self.ended:
            self.to_skip -= 1
            self.ended = self.input.next() is None

    def _take(self) -> None:
        """An error is of the windows it belongs to, not of the one before."""
        try:
            element = self.input.next()
        except OpError as error:
            self.buffer.append(error)
            return
        if element is None:
            self.ended = True
        else:
            self.buffer.append(element)


def _as_datasets(elements: Sequence[Element]) -> Element:
    return tuple([Listing([(v,) for v in column]) for column in zip(*elements, strict=True)])


class Listing(Dataset):
    """A dataset of given elements."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Listed(self.elements)

    def cardinality(self) -> int:
        return len(self.elements)


def _checked(**values: Any) -> list[int]:
    """The extents of a window, which must be positive."""
    found = [scalar(value, name) for name, value in values.items()]
    for name, value in zip(values, found, strict=True):
        if value <= 0:
            raise invalid(f"Window {name} must be greater than zero.")
    return found


@dataset_op(
    "WindowDataset", f"{INPUT}, size: int64, shift: int64, stride: int64, drop_remainder: bool"
)
def window_dataset(
    xp: Any, input_dataset: Dataset, size: Any, shift: Any, stride: Any, drop_remainder: Any
) -> Dataset:
    size, shift, stride = _checked(size=size, shift=shift, stride=stride)
    return Window(input_dataset, size, shift, stride, bool(drop_remainder))


@dataset_op(
    "SlidingWindowDataset",
    f"{INPUT}, window_size: int64, window_shift: int64, window_stride: int64", experimental=True,
)  # fmt: skip
def sliding_window_dataset(
    xp: Any, input_dataset: Dataset, window_size: Any, window_shift: Any, window_stride: Any
) -> Dataset:
    size, shift, stride = _checked(size=window_size, shift=window_shift, stride=window_stride)
    return Window(input_dataset, size, shift, stride, True, batches=True)
