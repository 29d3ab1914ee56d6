"""Properties that tell what was given."""

import pytest

from weft.core.properties import stored


class Point:
    x = stored("x", "How far to the right.")

    def __init__(self, x: int) -> None:
        self._x = x


def test_tells_the_attribute_and_cannot_be_set():
    point = Point(3)
    assert point.x == 3
    assert Point.x.__doc__ == "How far to the right."
    with pytest.raises(AttributeError):
        point.x = 4
