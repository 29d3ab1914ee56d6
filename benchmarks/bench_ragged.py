"""How long do the common operations on ragged rows take: 100,000 rows, a million values?"""

from typing import Any

import numpy as np
from common import arguments, load, median_call, report

ROWS, WIDTH = 100_000, 20


def cases(tf: Any, rows: Any, chosen: Any) -> dict[str, Any]:
    """What is asked for, by name."""
    return {
        "to_tensor": rows.to_tensor(),
        "concat": tf.concat([rows, rows], axis=1).values,
        "gather": tf.gather(rows, chosen).values,
        "sum": tf.reduce_sum(rows, axis=1),
        "mask": tf.ragged.boolean_mask(rows, rows > 0.5).values,
    }


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    random = np.random.default_rng(0)
    lengths = random.integers(0, WIDTH, ROWS)
    values = random.random(lengths.sum(), np.float32)
    picked = random.integers(0, ROWS, ROWS)
    given = [tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [None])]
    chosen = tf.placeholder(tf.int64, [None])
    wanted = cases(tf, tf.RaggedTensor.from_row_splits(*given, validate=False), chosen)
    splits = np.concatenate([[0], lengths.cumsum()])
    found = {}
    with tf.Session() as session:
        for name, tensor in wanted.items():
            call = session.make_callable(tensor, [*given, chosen])
            found[name] = median_call(lambda call=call: call(values, splits, picked), samples=9)
    report("ragged", impl, sum(found.values()), **found)


if __name__ == "__main__":
    main()
