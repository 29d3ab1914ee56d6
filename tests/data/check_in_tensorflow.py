"""Graphs with datasets that weft writes run in TensorFlow, with the same results.

.venv/bin/python -m tests.data.check_in_tensorflow write FOLDER
.venv-tf/bin/python -m tests.data.check_in_tensorflow run FOLDER
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

from tests.data.elements import drain, plain, same
from tests.data.programs import LOCAL, OLDER, PROGRAMS, write_files

# TensorFlow 2.21 no longer knows how to run the operation that 1.15 writes.
KNOWN = {"padded"}


def write(folder: str) -> None:
    """Writes a GraphDef for each program, and what is to come out."""
    import weft as tf

    write_files(tf, folder)
    warnings.simplefilter("ignore")
    for name in sorted(set(PROGRAMS) - LOCAL - OLDER - KNOWN):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            iterator = tf.data.make_initializable_iterator(PROGRAMS[name](tf, folder))
            flat = tf.nest.flatten(iterator.get_next(), expand_composites=True)
            session.run(iterator.initializer)
            found = {
                "initializer": iterator.initializer.name,
                "fetches": [tensor.name for tensor in flat],
                "elements": [[plain(v) for v in each] for each in drain(tf, session, flat)],
            }
            content = graph.as_graph_def().SerializeToString()
        Path(folder, f"{name}.pb").write_bytes(content)
        Path(folder, f"{name}.json").write_text(json.dumps(found))


def run(folder: str) -> list[str]:
    """The programs that do not run in TensorFlow as they do here."""
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    wrong = []
    for path in sorted(Path(folder).glob("*.pb")):
        wanted = json.loads(path.with_suffix(".json").read_text())
        try:
            found = in_tensorflow(tf, path.read_bytes(), wanted)
        except Exception as error:
            found, text = None, str(error).splitlines()[0]
            wrong.append(f"{path.stem}: {type(error).__name__}: {text[:200]}")
        if found is not None and not same(found, wanted["elements"]):
            wrong.append(f"{path.stem}: {found} instead of {wanted['elements']}")
    return wrong


def in_tensorflow(tf: Any, content: bytes, wanted: dict[str, Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(tf.GraphDef.FromString(content), name="")
        session.run(wanted["initializer"])
        values = drain(tf, session, wanted["fetches"])
        return [[plain(v) for v in each] for each in values]


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    else:
        for line in run(sys.argv[2]):
            sys.stdout.write(f"{line}\n")
        sys.stdout.write("done\n")
