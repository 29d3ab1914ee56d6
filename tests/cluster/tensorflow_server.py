"""A server of TensorFlow's own: `tensorflow_server.py SPEC JOB TASK`, run by its own Python."""

from __future__ import annotations

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow.compat.v1 as tf

if __name__ == "__main__":
    server = tf.train.Server(json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
    sys.stdout.write(f"{server.target}\n")
    sys.stdout.flush()
    server.join()
