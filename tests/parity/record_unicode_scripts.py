"""Writes weft/ops/kit/unicode_scripts.py: the script of every code point, asked of TensorFlow.

.venv-tf/bin/python -m tests.parity.record_unicode_scripts
"""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

TABLE = Path(__file__).parents[2] / "weft" / "ops" / "unicode_scripts.py"

HEAD = '''"""The script of every code point, in ICU's numbers (`UScriptCode`).

Written by tests/parity/record_unicode_scripts.py. A pair is where a run of code points with one
script begins, in hexadecimal, and the script.
"""

RUNS = """
'''


def main() -> None:
    scripts = tf.strings.unicode_script(np.arange(0x110000, dtype=np.int32)).numpy()
    starts = [0, *(np.flatnonzero(np.diff(scripts)) + 1).tolist()]
    runs = " ".join(f"{start:x}:{scripts[start]}" for start in starts)
    TABLE.write_text(HEAD + "\n".join(textwrap.wrap(runs, 98)) + '\n"""\n')


if __name__ == "__main__":
    main()
