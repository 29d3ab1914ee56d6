"""Short programs of the core API, and what TensorFlow 1.15 makes of them: nodes, values, errors.

The programs are text, a blank line between two, in the `.txt` files beside this one; what the last
line of a program leaves in `r` is fetched. Runs under Python 3.7, too.
"""

import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent
FEW = 12  # values that are kept of each fetch


def programs(group):
    """The programs of a group."""
    return (HERE / (group + ".txt")).read_text().strip().split("\n\n")


def groups():
    return sorted(path.stem for path in HERE.glob("*.txt"))


def recorded(group):
    """What TensorFlow made of each of them."""
    return json.loads((HERE / (group + ".json")).read_text())


def write(group, results):
    text = json.dumps(results, indent=0, sort_keys=True)
    (HERE / (group + ".json")).write_text(text + "\n")


def play(tf, program):
    """Nodes, values and error of one program, as what JSON can hold."""
    graph = tf.Graph()
    names = {"tf": tf, "np": np, "feed": {}, "steps": 1, "r": None, "g": graph}
    with graph.as_default():
        tf.set_random_seed(7)
        try:
            exec(program, names)
        except Exception as error:
            return {"error": [type(error).__name__, _message(error)]}
        nodes = [_line(node) for node in graph.as_graph_def().node]
        if names["r"] is None or "norun" in names:
            return {"nodes": nodes}
        init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
        init.append(tf.tables_initializer())
        with tf.Session() as session:
            try:
                session.run(init)
                for _ in range(names["steps"]):
                    found = session.run(_without_none(names["r"]), names["feed"])
            except tf.errors.OpError as error:
                return {"nodes": nodes, "failure": type(error).__name__}
    return {"nodes": nodes, "values": _plain(found)}


def _without_none(fetches):
    if isinstance(fetches, (list, tuple)) and not hasattr(fetches, "_fields"):
        return [_without_none(part) for part in fetches if part is not None]
    return fetches


def _message(error):
    """The text of an error, without what tells where it came through."""
    return (
        str(error).split("Error: ")[-1].strip() if "in converted code" in str(error) else str(error)
    )


def _line(node):
    return f"{node.op} {node.name}({', '.join(node.input)})"


def _plain(value):
    """Fetched values as lists: type, shape, and the first few elements."""
    if value is None:
        return None
    if isinstance(value, dict):
        return [_plain(value[key]) for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    array = np.asarray(value)
    few = array.ravel()[:FEW].tolist()
    if array.dtype.kind in "OSU":
        few = [x.decode("latin1") if isinstance(x, bytes) else str(x) for x in few]
        return ["string", list(array.shape), few]
    if array.dtype.kind == "c":
        few = [part for x in few for part in (x.real, x.imag)]
    if array.dtype.kind in "fc":
        few = [str(x) if x != x or x in (np.inf, -np.inf) else float(f"{x:.7g}") for x in few]
    return [array.dtype.name, list(array.shape), few]
