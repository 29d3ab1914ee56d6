"""GPT-2 and BERT from their own repositories, unchanged, beside the same models in JAX.

    python benchmarks/gpu/old_programs.py --gpt2 gpt-2/src --bert bert [--tiny]

Their code is in single precision. The session rewrites it to half precision
(`auto_mixed_precision`); the versions in JAX are written in bfloat16 by hand. Every measurement has
a process to itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import transformer
from timing import measure

sys.path.append(str(Path(__file__).resolve().parents[2]))

GPT2 = transformer.Size(steps=10)
BERT = transformer.Size(length=128, batch=32, vocabulary=30522, steps=20)


def _tiny(size: transformer.Size) -> transformer.Size:
    return replace(size, layers=1, width=16, heads=2, length=8, vocabulary=40, batch=3, steps=2)


def _tokens(size: transformer.Size) -> np.ndarray:
    shape = (size.batch, size.length + 1)
    return np.random.default_rng(1).integers(0, size.vocabulary, shape).astype(np.int32)


# ---- the programs -----------------------------------------------------------------------------


class Program:
    """A training step of TensorFlow code that was imported as it is."""

    def __init__(self, loss: Any, train: Any, tf: Any, mixed: bool) -> None:
        config = tf.ConfigProto()
        if mixed:
            config.graph_options.rewrite_options.auto_mixed_precision = 1
        self.loss, self.train = loss, train
        self.session = tf.Session(config=config)
        self.session.run(tf.global_variables_initializer())

    def step(self) -> None:
        self.session.run(self.train)

    def step_and_loss(self) -> float:
        return float(self.session.run([self.train, self.loss])[1])

    def peak_bytes(self) -> int:
        from with_jax import peak_bytes

        return peak_bytes()


def _tensorflow(folder: str) -> Any:
    from weft.legacy.tensorflow_import import install

    install()
    sys.path.insert(0, folder)
    import tensorflow

    return tensorflow


def gpt2(folder: str, size: transformer.Size, mixed: bool) -> Program:
    tf = _tensorflow(folder)
    import model

    hparams = model.default_hparams()
    hparams.n_vocab, hparams.n_ctx, hparams.n_embd = size.vocabulary, size.length, size.width
    hparams.n_head, hparams.n_layer = size.heads, size.layers
    tokens = tf.constant(_tokens(size))
    logits = model.model(hparams=hparams, X=tokens[:, :-1])["logits"]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tokens[:, 1:], logits=logits)
    loss = tf.reduce_mean(losses)
    return Program(loss, tf.train.AdamOptimizer(1e-4).minimize(loss), tf, mixed)


def bert(folder: str, size: transformer.Size, mixed: bool) -> Program:
    tf = _tensorflow(folder)
    import modeling
    import optimization

    config = modeling.BertConfig(
        size.vocabulary, size.width, size.layers, size.heads, 4 * size.width,
        max_position_embeddings=max(512, size.length),
    )  # fmt: skip
    tokens = _tokens(size)
    network = modeling.BertModel(config, True, tf.constant(tokens[:, :-1]))
    logits = tf.layers.dense(network.get_pooled_output(), 2)
    labels = tf.constant(tokens[:, -1] % 2)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    tf.train.get_or_create_global_step()
    return Program(loss, optimization.create_optimizer(loss, 1e-5, 1000, 10, False), tf, mixed)


# ---- the same in JAX --------------------------------------------------------------------------


class BertInJax(transformer.Jax):
    """The benchmark's transformer as BERT: no mask, normed behind, with dropout."""

    def dropped(self, key: Any, x: Any) -> Any:
        import jax

        keep = jax.random.bernoulli(key, 0.9, x.shape)
        return x * keep.astype(x.dtype) / np.float32(0.9).astype(x.dtype)

    def attend(self, name: str, x: Any, key: Any) -> Any:
        import jax
        import jax.numpy as jnp

        size = self.size
        q, k, v = (self.heads(part) for part in jnp.split(self.dense(f"{name}/qkv", x), 3, axis=1))
        scores = q @ k.swapaxes(-1, -2) * (size.width // size.heads) ** -0.5
        mixed = self.dropped(key, jax.nn.softmax(scores)) @ v
        return self.dense(f"{name}/out", mixed.transpose(0, 2, 1, 3).reshape(-1, size.width))

    def pooled(self, tokens: Any, key: Any) -> Any:
        import jax

        size = self.size
        keys = iter(jax.random.split(key, 3 * size.layers + 1))
        x = self.p["tokens"][tokens] + self.p["types"][0] + self.p["positions"]
        x = self.norm("norm", x.astype("bfloat16").reshape(-1, size.width))
        x = self.dropped(next(keys), x)
        for i in range(size.layers):
            mixed = self.dropped(next(keys), self.attend(f"{i}", x, next(keys)))
            x = self.norm(f"{i}/norm1", x + mixed)
            hidden = jax.nn.gelu(self.dense(f"{i}/up", x), approximate=False)
            x = self.norm(
                f"{i}/norm2", x + self.dropped(next(keys), self.dense(f"{i}/down", hidden))
            )
        first = x.reshape(size.batch, size.length, size.width)[:, 0]
        return jax.numpy.tanh(self.dense("pool", first))


class BertForJax:
    """What with_jax.py asks of a model."""

    OPTIMIZER = ("clipped adam", 1e-5)
    VARIANTS = ("resident",)
    batch = staticmethod(transformer.batch)

    @staticmethod
    def parameters(size: transformer.Size) -> dict[str, Any]:
        shapes = {"pool": (size.width, size.width), "classes": (size.width, 2)}
        random = np.random.default_rng(2)
        found = {"types": np.zeros((2, size.width), np.float32)}
        for name, shape in shapes.items():
            found[f"{name}/w"] = random.standard_normal(shape, np.float32) * np.float32(0.02)
            found[f"{name}/b"] = np.zeros(shape[1], np.float32)
        return transformer.parameters(size) | found

    @staticmethod
    def state(size: transformer.Size) -> dict[str, Any]:
        return {"steps": np.zeros((), np.int32)}

    @staticmethod
    def in_jax(p: Any, state: Any, batch: Any, size: transformer.Size) -> tuple[Any, Any]:
        import jax
        import jax.numpy as jnp

        key = jax.random.fold_in(jax.random.key(0), state["steps"])
        network = BertInJax(p, size)
        pooled = network.pooled(batch["tokens_in"], key)
        logits = network.dense("classes", pooled).astype("float32")
        labels = batch["tokens_out"][:, -1:] % 2
        right = jnp.take_along_axis(logits, labels, axis=1)[:, 0]
        loss = jnp.mean(jax.nn.logsumexp(logits, axis=1) - right)
        return loss, {"steps": state["steps"] + 1}


# ---- measuring --------------------------------------------------------------------------------


def training(name: str, impl: str, folder: str, tiny: bool) -> tuple[Any, transformer.Size]:
    size = GPT2 if name == "gpt2" else BERT
    size = _tiny(size) if tiny else size
    if impl == "jax":
        from with_jax import training as in_jax

        return in_jax(transformer if name == "gpt2" else BertForJax, size, "resident"), size
    build = gpt2 if name == "gpt2" else bert
    return build(folder, size, impl == "mixed"), size


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpt2", help="folder of GPT-2's model.py")
    parser.add_argument("--bert", help="folder of BERT's modeling.py")
    parser.add_argument("--tiny", action="store_true", help="toy sizes")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--skip-plain", action="store_true", help="not as it is written")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, impl, folder = options.child
        begin = time.perf_counter()
        model, size = training(name, impl, folder, options.tiny)
        found = measure(model, size.steps, options.samples)
        print(json.dumps(found | {"ready": time.perf_counter() - begin}))
        return
    print("| program | mixed precision | as written | JAX bfloat16 | mixed / JAX |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in ("gpt2", "bert"):
        if getattr(options, name):
            print(_row(name, getattr(options, name), options), flush=True)


def _shown(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:.1f} ms"


def _row(name: str, folder: str, options: Any) -> str:
    times = {}
    impls = [i for i in ("mixed", "plain", "jax") if i != "plain" or not options.skip_plain]
    for impl in impls:
        command = [sys.executable, __file__, "--child", name, impl, folder]
        command += ["--samples", str(options.samples), *(["--tiny"] if options.tiny else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr[-3000:])
        found = json.loads(done.stdout.splitlines()[-1])
        print(name, impl, found["losses"], file=sys.stderr)
        times[impl] = found["running"]
    cells = [_shown(times.get(impl)) for impl in ("mixed", "plain", "jax")]
    return f"| {name} | {' | '.join(cells)} | {times['mixed'] / times['jax']:.2f} |"


if __name__ == "__main__":
    main()
