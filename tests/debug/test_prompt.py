"""tfdbg's command line: what is asked before and after runs, and what commands answer."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib import debug
from weft.lib.debug.offline import main as offline


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


class Terminal:
    """Types commands; keeps what is shown after each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
        self.capsys, self.shown, self.typed = capsys, list[str](), iter(())
        monkeypatch.setattr("builtins.input", self.read)

    def read(self, prompt: str) -> str:
        self.shown.append(self.capsys.readouterr().out)
        try:
            return next(self.typed)
        except StopIteration:
            raise EOFError from None

    def type(self, *commands: str) -> None:
        self.typed: Iterator[str] = iter(commands)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Terminal:
    return Terminal(monkeypatch, capsys)


def model() -> tuple[tf.Tensor, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=tf.constant([[2.0], [3.0]]))
    with tf.name_scope("scope"):
        y = tf.matmul(x, w, name="y")
    return x, tf.log(y, name="z")


@pytest.fixture
def wrapped() -> Iterator[Any]:
    sessions = []

    def wrap(**settings: Any) -> Any:
        sessions.append(tf.Session())
        sessions[-1].run(tf.global_variables_initializer())
        return debug.LocalCLIDebugWrapperSession(
            sessions[-1], ui_type="readline", config_file_path=None, **settings
        )

    yield wrap
    for session in sessions:
        session.close()


COMMANDS = [
    ("lt", r"\d+ dumped tensor\(s\):\n\nt \(ms\) +Size \(B\) +Op type +Tensor name\n\[0.000\]"),
    ("lt -n scope/.* -r -s op_type", r'1 dumped.*\nNode name regex filter: "scope/.\*"'),
    ("lt -t Log", r"1 dumped.*\nOp type regex filter: \"Log\"\n(.*\n)+.* Log +z:0"),
    ("lt -f has_inf_or_nan", r'1 dumped tensor\(s\) passing filter "has_inf_or_nan":'),
    ("lt -f nobody", r'ERROR: There is no tensor filter named "nobody"'),
    ("pt z", r'Tensor "z:0:DebugIdentity":\n  dtype: float32\n  shape: \(2, 1\)\n\narray\('),
    ("pt scope/y:0[1:]", r'"scope/y:0:DebugIdentity\[1:\]":\n.*\n  shape: \(1, 1\)\n\n.*0\.'),
    ("pt scope/y:0[0,0]", r"shape: \(\)\n\narray\(8\."),
    ("pt z -r [-inf,0] -s", r"(?s)Highlighted\(\[-inf,0\]\): 1 of 2.*\| +-inf +\+ \| total \|"),
    ("pt nobody", r'ERROR: Node "nobody" does not exist in partition graphs'),
    ("pt x", r'ERROR: Node "x" does not exist'),
    ("ni scope/y", r"Node scope/y\n\n  Op: MatMul\n  Device: /job:localhost/.*CPU:0\n"),
    ("ni -a -d -t scope/y", r"(?s)2 input\(s\) \+ 0 control.*\[Identity\] w/read.*transpose_a"),
    ("ni -d scope/y", r"1 dumped tensor\(s\):\n\n  Slot 0 @ DebugIdentity @ [\d.]+ ms"),
    (
        "ni -t scope/y",
        r"Traceback of node construction:\n(.*\n)+.*Function: model\n  Text: .*matmul",
    ),
    (
        "li -r z",
        r'Inputs to node "z" \(Depth limit = 20\):\n\|- \(1\) scope/y\n   \|- \(2\) _arg_x',
    ),
    ("li -r -d 1 -t z", r"\|- \(1\) \[MatMul\] scope/y\n   \|- \.\.\.\n\nLegend"),
    ("li -c w", r'Inputs to node "w" .*control inputs included\):\n  \[None\]'),
    ("lo -r w", r'Recipients of node "w" .*\n\|- \(1\) w/read\n   \|- \(2\) scope/y\n'),
    ("pf x:0", r'Tensor "x:0 \(feed\)":\n'),
    ("pf nobody", r"ERROR: The feed_dict of the current run does not contain the key nobody"),
    ("eval 'np.sum(`scope/y:0`) + 1'", r"from eval of expression '.*'.*\n(.*\n)*.*9\.0"),
    (f"ps {__file__} -t", r"L\d+ +y = tf.matmul\(x, w, name=\"y\"\)\n    scope/y:0\n"),
    ("ls", rf"List of source files(.*\n)+{re.escape(__file__)} "),
    ("config set graph_recursion_depth 3", r"graph_recursion_depth: 3"),
    ("help lt", r"list_tensors\n  Aliases: lt\n"),
    ("help", r"(?s)list_inputs\n.*node_info\n.*print_feed\n.*run_info\n"),
    ("ri", r"Session.run\(\) call #1:\n\nFetch\(es\):\n  z:0\n\nFeed dict:\n  x:0\n"),
    ("lt --nonsense", r'Syntax error for command: lt\nFor help, do "help lt"'),
    ("lt -n (", r"Error occurred during handling of command: list_tensors -n \(:"),
    ("nonsense", r'ERROR: Invalid command prefix "nonsense"'),
]


def test_commands(terminal: Terminal, wrapped: Any) -> None:
    x, z = model()
    terminal.type("run", *(command for command, _ in COMMANDS), "run -n")
    session = wrapped()
    value = session.run(z, {x: [[1.0, 2.0], [0.0, 0.0]]})
    np.testing.assert_allclose(value, [[np.log(8.0)], [-np.inf]])
    start, end, *answers = terminal.shown
    assert start.strip().startswith("run-start: run #1: 1 fetch (z:0); 1 feed (x:0)")
    assert "Registered filter(s):\n        * has_inf_or_nan" in start
    assert end.strip().startswith("run-end: run #1: 1 fetch (z:0); 1 feed (x:0)")
    for (command, pattern), answer in zip(COMMANDS, answers, strict=True):
        assert re.search(pattern, answer), f"{command}:\n{answer}"


def test_runs_until_a_filter_holds(terminal: Terminal, wrapped: Any) -> None:
    x, z = model()
    terminal.type("run -f nobody", "run -f has_inf_or_nan", "lt -f has_inf_or_nan", "run -n")
    session = wrapped()
    for count in range(4):
        session.run(z, {x: [[1.0, 1.0 - count]]})
    assert 'ERROR: tensor filter "nobody" does not exist.' in terminal.shown[1]
    assert "run-end: run #3:" in terminal.shown[2] and 'passing filter "has' in terminal.shown[2]
    assert len(terminal.shown) == 4  # and on without a prompt


def test_runs_a_number_of_times(terminal: Terminal, wrapped: Any) -> None:
    x, z = model()
    terminal.type("run -t 3", "run -n")
    session = wrapped()
    for _ in range(4):
        session.run(z, {x: [[1.0, 1.0]]})
    assert ["run-end: run #3:" in shown for shown in terminal.shown] == [False, True]


def test_inside_of_loops(terminal: Terminal, wrapped: Any) -> None:
    def body(i: tf.Tensor, v: tf.Tensor) -> Any:
        return i + 1, tf.divide(v, tf.cast(2 - i, tf.float32), name="divided")

    _, v = tf.while_loop(lambda i, _: i < 3, body, [0, 1.0])
    terminal.type("run -f has_inf_or_nan", "pt while/divided", "pt while/divided -n 2", "run -n")
    wrapped().run(v)
    assert "while/divided:0" in terminal.shown[1] and "while/Switch" not in terminal.shown[0]
    assert 'Tensor "while/divided" generated 3 dumps:' in terminal.shown[2]
    assert re.search(r"\(dump #2\)(.*\n)+array\(inf", terminal.shown[3])


def test_errors_are_shown_with_what_came_before_them(terminal: Terminal, wrapped: Any) -> None:
    x, z = model()
    y = tf.check_numerics(z, "bad", name="checked")
    terminal.type("run", "lt -n z", "run -n")
    error = wrapped().run(y, {x: np.zeros([1, 2])})
    assert isinstance(error, tf.errors.InvalidArgumentError)
    told = terminal.shown[-2]
    assert "!!! An error occurred during the run !!!" in told and "ni -a -d -t checked" in told
    assert "1 dumped tensor(s):" in terminal.shown[-1]


def test_profiles_of_a_run(terminal: Terminal, wrapped: Any) -> None:
    x, z = model()
    terminal.type("run -p", "lp -n scope.* -s exec_time", f"ps {__file__}", "run -n")
    wrapped().run(z, {x: [[1.0, 2.0]]})
    assert "run-end (profiler mode): run #1" in terminal.shown[1]
    assert re.search(r"scope/y +MatMul +\d+ .*test_prompt.py:\d+\(model\)", terminal.shown[2])
    assert re.search(r"\[\|+ *\] \d+us +1\(1\) +L\d+ .*tf.matmul", terminal.shown[3])


def test_exit_ends_the_program(terminal: Terminal, wrapped: Any) -> None:
    x, z = model()
    terminal.type("exit")
    with pytest.raises(SystemExit):
        wrapped().run(z, {x: [[1.0, 1.0]]})


def test_answers_can_go_to_files(terminal: Terminal, wrapped: Any, tmp_path: Path) -> None:
    x, z = model()
    text, array = tmp_path / "out.txt", tmp_path / "out.npy"
    terminal.type("run", f"lt > {text}", f"pt z -w {array}", "run -n")
    wrapped().run(z, {x: [[1.0, 1.0]]})
    assert "Tensor name" in text.read_text()
    np.testing.assert_allclose(np.load(array), [[np.log(5.0)]])


def test_callables_and_other_threads(terminal: Terminal, wrapped: Any) -> None:
    x, z = model()
    terminal.type("run", "run -n")
    session = wrapped()
    call = session.make_callable(z, [x])
    assert call([[1.0, 1.0]]).shape == (1, 1)
    assert "runner from make_callable()" in terminal.shown[0]
    other = wrapped(thread_name_filter="Worker")
    assert other.run(z, {x: [[1.0, 1.0]]}).shape == (1, 1) and len(terminal.shown) == 2


def test_hooks(terminal: Terminal, tmp_path: Path) -> None:
    value = tf.add(tf.constant(1), 1, name="value")
    hook = debug.LocalCLIDebugHook(ui_type="readline", dump_root=str(tmp_path / "dump"))
    hook.add_tensor_filter("two", lambda datum, tensor: np.all(tensor == 2))
    terminal.type("run -f two", "pt value", "run -n")
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert [session.run(value) for _ in range(2)] == [2, 2]
    assert 'passing filter "two"' in terminal.shown[1] and "array(2" in terminal.shown[2]


def test_dumps_and_the_offline_analyzer(terminal: Terminal, tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1, name="train")
    root = tmp_path / "dumps"
    hook = debug.DumpingDebugHook(str(root))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert [session.run(train) for _ in range(2)] == [1, 2]
    runs = sorted(os.listdir(root))
    assert len(runs) == 2
    with (
        tf.Session() as empty,
        pytest.raises(ValueError, match="points to a non-empty directory"),
    ):
        debug.DumpingDebugWrapperSession(empty, str(root))
    terminal.type("pt train", "exit")
    assert offline(["--dump_dir", str(root / runs[1]), "--ui_type", "readline"]) == 0
    assert "tfdbg offline @" in terminal.shown[0] and "array(2)" in terminal.shown[1]
    assert offline([]) == 1


def test_what_the_dumping_session_tells_of_a_run(tmp_path: Path) -> None:
    x, z = model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        only = debug.WatchOptions(node_name_regex_whitelist="z$")
        dumping = debug.DumpingDebugWrapperSession(session, str(tmp_path / "d"), lambda *_: only)
        dumping.run(z, {x: [[1.0, 1.0]]})
    (run,) = os.listdir(tmp_path / "d")
    dump = debug.DebugDumpDir(str(tmp_path / "d" / run))
    assert [datum.tensor_name for datum in dump.dumped_tensor_data] == ["z:0"]
    assert "'z:0'" in dump.run_fetches_info and "'x:0'" in dump.run_feed_keys_info


def test_sparse_tensors_are_fetched_and_fed(terminal: Terminal, wrapped: Any) -> None:
    fed = tf.sparse_placeholder(tf.float32)
    doubled = tf.SparseTensor(fed.indices, fed.values * 2.0, fed.dense_shape)
    value = tf.SparseTensorValue([[0]], [1.0], [2])
    terminal.type("run", "pt mul", "run -n")
    assert wrapped().run(doubled, {fed: value}).values == [2.0]
    assert "array([2.]" in terminal.shown[2]
