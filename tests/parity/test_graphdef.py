"""GraphDefs travel both ways, and one program gives one result in both libraries."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import weft as tf
from tests.parity import graphdefs
from tests.parity.programs import PROGRAMS
from tests.parity.store import DATA

ROOT = Path(__file__).parents[2]
TENSORFLOW = ROOT / ".venv-tf" / "bin" / "python"
FROM_TENSORFLOW = {case.name: case for case in graphdefs.load(DATA / "graphdefs")}

every_program = pytest.mark.parametrize("name", list(PROGRAMS))


@every_program
def test_graph_from_tensorflow(name: str) -> None:
    case = FROM_TENSORFLOW[name]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(case.graph_def), name="")
        with tf.Session(graph=graph) as session:
            found = graphdefs.rerun(session, case)
    assert not (problems := graphdefs.mismatches(case, found)), "\n".join(problems)


@every_program
def test_program(name: str) -> None:
    """The same source, run by weft, gives what TensorFlow gave."""
    ours, theirs = graphdefs.build_case(tf, name), FROM_TENSORFLOW[name]
    found = [step.results for step in ours.steps]
    assert not (problems := graphdefs.mismatches(theirs, found)), "\n".join(problems)


@every_program
def test_graph_survives_a_round_trip(name: str) -> None:
    graph_def = tf.GraphDef.FromString(graphdefs.build_case(tf, name).graph_def)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    again = {node.name: node for node in graph.as_graph_def().node}
    assert again.keys() == {node.name for node in graph_def.node}
    changed = [(node, again[node.name]) for node in graph_def.node if node != again[node.name]]
    assert not changed, "{}became\n{}".format(*changed[0])


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_graphs_run_in_tensorflow(tmp_path: Path) -> None:
    if not TENSORFLOW.exists():
        pytest.skip("no .venv-tf: TensorFlow is not installed to run weft's graphs")
    graphdefs.save(tmp_path, [graphdefs.build_case(tf, name) for name in PROGRAMS])
    command = [str(TENSORFLOW), "-m", "tests.parity.check_in_tensorflow", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
