# %% [markdown]
# # A recurrent network that writes, letter by letter
#
# An LSTM reads a text and learns which letter comes next; then it goes on by itself. As a program:
# `python examples/char_rnn.py [--steps 250]`

# %%
import argparse
import os

import numpy as np

import weft as tf

parser = argparse.ArgumentParser(description="Train a network that writes.")
parser.add_argument("--steps", type=int, default=250, help="steps of training (250)")
options, _ = parser.parse_known_args()

BATCH, LENGTH, UNITS = 16, 32, 96

# %% [markdown]
# Letters become numbers. A row of the batch is a piece of the text; what it should say is the same
# piece, one letter on.

# %%
here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else "."
with open(os.path.join(here, "data", "weaving.txt")) as file:
    text = file.read()
letters = sorted(set(text))
numbers = np.array([letters.index(letter) for letter in text])
print(f"{len(text)} letters, {len(letters)} of them different")


def pieces(rng):
    """(a batch of pieces of the text, the same pieces one letter on)."""
    starts = rng.integers(0, len(numbers) - LENGTH - 1, BATCH)
    rows = starts[:, None] + np.arange(LENGTH)
    return numbers[rows], numbers[rows + 1]


# %% [markdown]
# The same graph trains, with rows of 32 letters, and writes, with one letter at a time: batch and
# length are open, and the state is fed back.

# %%
tf.set_random_seed(3)
inputs = tf.placeholder(tf.int32, [None, None], name="inputs")
targets = tf.placeholder(tf.int32, [None, None], name="targets")

cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
start = cell.zero_state(tf.shape(inputs)[0], tf.float32)
outputs, state = tf.nn.dynamic_rnn(cell, tf.one_hot(inputs, len(letters)), initial_state=start)
logits = tf.layers.dense(outputs, len(letters), name="logits")
loss = tf.losses.sparse_softmax_cross_entropy(labels=targets, logits=logits)

optimizer = tf.train.AdamOptimizer(0.01)
gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
clipped, _ = tf.clip_by_global_norm(gradients, 5.0)
train = optimizer.apply_gradients(zip(clipped, variables, strict=True))
drawn = tf.multinomial(logits[:, -1, :] / 0.5, 1)

# %%
session = tf.Session()
session.run(tf.global_variables_initializer())
rng = np.random.default_rng(0)
for step in range(1, options.steps + 1):
    read, expected = pieces(rng)
    _, current = session.run([train, loss], {inputs: read, targets: expected})
    if step % 50 == 0:
        print(f"step {step}: loss {current:.3f}")

# %% [markdown]
# It writes: each letter that is drawn is the next input.

# %%
written = "the "
held, choice = session.run(
    [state, drawn], {inputs: [[letters.index(letter) for letter in written]]}
)
for _ in range(160):
    written += letters[choice[0, 0]]
    held, choice = session.run([state, drawn], {inputs: choice, start: held})
print(f"Loss at the end: {current:.3f}")
print(written)
