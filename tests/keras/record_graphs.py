"""Records the graphs and the numbers of TensorFlow's Keras for the models of tests/keras/graphs.py.

python -m tests.keras.record_graphs     (with TensorFlow 1.15)
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import tensorflow as tf

from tests.keras.graphs import names, observe

PATH = Path(__file__).parent / "recorded" / "graphs.json.gz"


def main() -> None:
    found = {case: observe(tf, case) for case in names()}
    text = json.dumps(found, sort_keys=True)
    with open(PATH, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    main()
