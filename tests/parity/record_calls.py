"""Records what TensorFlow 1.15 makes of the programs in `calls/`.

python3.7 -m tests.parity.record_calls [group ...]
"""

import sys

import tensorflow as tf

from tests.parity import calls


def main():
    tf.logging.set_verbosity(tf.logging.FATAL)
    for group in sys.argv[1:] or calls.groups():
        calls.write(group, {text: calls.play(tf, text) for text in calls.programs(group)})


if __name__ == "__main__":
    main()
