"""Records what TensorFlow makes of the programs of tests/keras/written.py.

python -m tests.keras.record_written     (with TensorFlow 1.15)
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import tensorflow as tf

from tests.keras.written import PROGRAMS, observe

PATH = Path(__file__).parent / "recorded" / "written.json.gz"


def main() -> None:
    text = json.dumps({name: observe(tf, name) for name in PROGRAMS}, sort_keys=True)
    with open(PATH, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    main()
