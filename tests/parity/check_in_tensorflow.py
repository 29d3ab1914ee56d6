"""Runs GraphDefs in TensorFlow and compares with the results kept beside them.

    .venv-tf/bin/python -m tests.parity.check_in_tensorflow FOLDER

FOLDER is as `graphdefs.save` writes it (weft's own graphs, say). Exits with 1 and one line per
difference when TensorFlow refuses a graph or computes something else.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow.compat.v1 as tf

from tests.parity import graphdefs

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


def check(case: graphdefs.Case) -> list[str]:
    with tf.Graph().as_default() as graph:
        try:
            tf.import_graph_def(tf.GraphDef.FromString(case.graph_def), name="")
            with tf.Session(graph=graph) as session:
                return graphdefs.mismatches(case, graphdefs.rerun(session, case))
        except (ValueError, KeyError, TypeError, tf.errors.OpError) as error:
            return [f"{case.name}: {type(error).__name__}: {error}"]


def main() -> int:
    cases = graphdefs.load(Path(sys.argv[1]))
    problems = [problem for case in cases for problem in check(case)]
    for line in problems or [f"{len(cases)} graphs agree"]:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
