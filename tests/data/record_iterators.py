"""Runs the programs with iterators in TensorFlow 1.15 and keeps their graphs and what comes out.

python3.7 -m tests.data.record_iterators    (where `tensorflow` is 1.15)
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import tensorflow as tf

from tests.data.graph_lines import graph_lines, plain
from tests.data.iterator_programs import PROGRAMS

FILE = Path(__file__).parent / "recorded" / "iterators.json"


def record(name: str) -> dict[str, Any]:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        values = plain(PROGRAMS[name](tf))
        return {"graph": graph_lines(graph), "values": values}


def main() -> None:
    warnings.simplefilter("ignore")
    found = {name: record(name) for name in PROGRAMS}
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
