"""Small colour images (32 x 32) of ten kinds: 50,000 and 10,000."""

from __future__ import annotations

from weft.lib.keras.datasets.source import TORONTO, Arrays, cifar
from weft.lib.keras.utils.files import get_file

HASH = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"


def load_data() -> tuple[Arrays, Arrays]:
    """(images, kinds) to train on, and to test on."""
    origin = TORONTO + "cifar-10-python.tar.gz"
    folder = get_file("cifar-10-batches-py", origin, untar=True, file_hash=HASH)
    train = [f"data_batch_{i}" for i in range(1, 6)]
    return cifar(folder, train, "test_batch", "labels", "uint8")
