"""Small colour images (32 x 32) of a hundred kinds, or of twenty larger ones."""

from __future__ import annotations

from weft.lib.keras.datasets.source import TORONTO, Arrays, cifar
from weft.lib.keras.utils.files import get_file

HASH = "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"


def load_data(label_mode: str = "fine") -> tuple[Arrays, Arrays]:
    """(images, kinds) to train on, and to test on; `label_mode` is fine or coarse."""
    if label_mode not in ("fine", "coarse"):
        raise ValueError('`label_mode` must be one of `"fine"`, `"coarse"`.')
    origin = TORONTO + "cifar-100-python.tar.gz"
    folder = get_file("cifar-100-python", origin, untar=True, file_hash=HASH)
    return cifar(folder, ["train"], "test", f"{label_mode}_labels", "int64")
