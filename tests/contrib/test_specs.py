"""tf.contrib.specs: the networks and pictures of TensorFlow's tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from weft.contrib import specs

import weft as tf

NETS = [
    # specification, shape of the input, of the output, structure
    ("net = Cr(64, [5, 5])", [1, 18, 19, 5], [1, 18, 19, 64],
     "_ variablev2 conv variablev2 biasadd relu"),
    ("net = Fs(10) + Fr(10)", [17, 55], [17, 10],
     "_ variablev2 dot variablev2 biasadd sig <> variablev2 dot variablev2 biasadd relu addv2"),
    ("net = Fs(10) * Fr(10)", [17, 55], [17, 10], None),
    ("M2 = Mp([2, 2]); net = M2**3", [1, 64, 64, 5], [1, 8, 8, 5],
     "_ maxpool maxpool maxpool"),
    ("C3 = Cr([3, 3]); M2 = Mp([2, 2]); net = (C3(5) | M2)**3", [1, 64, 64, 5], [1, 8, 8, 5],
     "_ " + " ".join(["variablev2 conv variablev2 biasadd relu maxpool"] * 3)),
    ("C3 = Cr(_1=[3, 3]); net = C3(_0=5) | Mp([2, 2])", [1, 64, 64, 5], [1, 32, 32, 5],
     "_ variablev2 conv variablev2 biasadd relu maxpool"),
    ("net = Conc(1, Fs(20), Fs(10))", [10, 20], [10, 30],
     "_ variablev2 dot variablev2 biasadd sig <> variablev2 dot variablev2 biasadd sig _ concatv2"),
    ("net = Do(0.5) | Bn | Unit(1) | Relu | Sig | Tanh | Smax", [17, 55], [17, 55], None),
    ("net = Cr(3, [3, 3]) | Flat | Fl(2)**0 | Fl(2)", [2, 4, 4, 1], [2, 2], None),
    ("S = Import('from weft.ops.math.math import sigmoid; f = sigmoid'); net = S | S",
     [10, 20], [10, 20], "_ sig sig"),
    ("net = Idx() | Dws(3) | Id", [1, 4, 4, 2], [1, 4, 4, 3], None),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "given", "expected", "structure"), NETS)
def test_networks(spec: str, given: Any, expected: Any, structure: str | None) -> None:
    x = tf.placeholder(tf.float32, given)
    made = specs.create_net(spec, x)
    assert made.shape.as_list() == expected
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made, {x: np.ones(given)}).shape == tuple(expected)
    if structure:
        assert specs.tf_spec_structure(spec, input_shape=given) == structure


def test_variables() -> None:
    spec = "net = Var('v', shape=[2, 2], initializer=init)"
    made = specs.create_net(spec, tf.zeros([1]), {"init": tf.constant_initializer(42.0)})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made)[1, 1] == 42.0
    shared = "S = Shared(Fr(10)); net = S + S"
    before = len(tf.global_variables())
    specs.create_net(shared, tf.zeros([3, 10]))
    assert len(tf.global_variables()) == before + 2


def test_specifications_that_cannot_be() -> None:
    for text, message in (
        ("import re; net = Relu", "keyword 'import' found in spec"),
        ("x = Relu", "spec failed to create 'net'"),
    ):
        with pytest.raises(ValueError, match=message):
            specs.create_net(text, tf.zeros([1]))
    specs.check_keywords("x = 'import while def'")
    with pytest.raises(ValueError, match="is not callable"):
        specs.Function(3)
    with pytest.raises(ValueError, match='failed to define "f"'):
        specs.Import("g = 3")


def test_parameters() -> None:
    assert specs.eval_params("x = 3")["x"] == 3
    text = "a = Uf(1, 2); b = Ui(1, 4); c = Lf(1, 8); d = Li(1, 8); e = Nt(0, 1, 1); f = sqrt(n)"
    found = specs.eval_params(text, {"n": 4})
    assert 1 <= found["a"] <= 2 and found["b"] in range(1, 5) and found["f"] == 2
    assert 1 <= found["c"] <= 8 and found["d"] in range(1, 9) and abs(found["e"]) <= 1


def test_names_in_the_module() -> None:
    with specs.ops:
        net = Fr(7) | Fs(3)  # type: ignore[name-defined]  # noqa: F821
    assert net.funcall(tf.zeros([2, 4])).shape == [2, 3]
    assert "Fr" not in globals()


def test_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [1, 8, 8, 5])
    made = specs.create_net("net = Cr(6, [3, 3]) | Mp([2, 2])", x)
    assert specs.tf_num_params(made) == 3 * 3 * 5 * 6 + 6
    rows: list[str] = []
    specs.tf_parameter_summary(made, rows.append)
    assert [row.split()[0] for row in rows] == ["0", "276", "0"]
    specs.tf_spec_print("net = Relu", input_shape=[2, 3])
    assert capsys.readouterr().out.splitlines() == [
        "Relu Relu [2, 3]", "  Placeholder_1 Placeholder [2, 3]",
    ]  # fmt: skip
    assert specs.tf_structure(tf.nn.relu(x), include_shapes=True).strip() == (
        "[1, 8, 8, 5] _ [1, 8, 8, 5] relu"
    )
