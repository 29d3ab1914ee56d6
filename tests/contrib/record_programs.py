"""Records what TensorFlow 1.15 makes of the programs in `tests/contrib/programs`.

python -m tests.contrib.record_programs [FAMILY ...]
"""

from __future__ import annotations

import sys

import tensorflow as tf

from tests.contrib.programs import FAMILIES, outcome, programs_of, write


def main() -> None:
    for family in sys.argv[1:] or FAMILIES:
        programs = programs_of(family)
        write(family, {name: outcome(tf, program) for name, program in programs.items()})


if __name__ == "__main__":
    main()
