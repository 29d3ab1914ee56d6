"""Small pictures of digits, drawn here: no download, and as many as one likes.

Each is a glyph of 5 by 7 dots, put somewhere on 12 by 12, brighter or darker, with noise on it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SIZE = 12
_GLYPHS = """
.###. ..#.. .###. ####. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ..##. .###. #..#. ....# ####. ...#. .###. .####
##..# ..#.. .#... ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. #.... ....# ...#. #...# #...# ..#.. #...# ....#
.###. .###. ##### ####. ...#. .###. .###. ..#.. .###. .###.
"""


def glyphs() -> np.ndarray:
    """The ten glyphs, [10, 7, 5], ones and zeros."""
    rows = [line.split() for line in _GLYPHS.split("\n") if line]
    return np.array([[[dot == "#" for dot in row[i]] for row in rows] for i in range(10)], float)


def draw(
    count: int, seed: int, digits: Sequence[int] = range(10), centred: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """(pictures [count, 12, 12, 1] from 0 to 1, which of `digits` each shows [count])."""
    rng = np.random.default_rng(seed)
    shapes, labels = glyphs(), rng.choice(np.array(digits), count)
    pictures = rng.uniform(0, 0.2, [count, SIZE, SIZE])
    for picture, label in zip(pictures, labels, strict=True):
        top, left = (2, 3) if centred else rng.integers(0, (6, 8))
        picture[top : top + 7, left : left + 5] += shapes[label] * rng.uniform(0.5, 0.8)
    return pictures[..., np.newaxis].astype(np.float32), labels.astype(np.int64)


def printed(picture: np.ndarray) -> str:
    """A picture as lines of characters."""
    shades = np.array(list(" .:*#"))
    dots = np.clip((picture.reshape(SIZE, SIZE) * len(shades)).astype(int), 0, len(shades) - 1)
    return "\n".join("".join(shades[row]) for row in dots)
