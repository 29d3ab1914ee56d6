"""The seeds of an op: from the graph's seed, its own, and how many ops came before it."""

from __future__ import annotations

from weft.graph.stacks import get_default_graph

DEFAULT_GRAPH_SEED = 87654321
_MAX_INT32 = 2**31 - 1


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The pair of seed attrs for an op made now; (None, None) when neither seed was set."""
    graph = get_default_graph()
    if graph.seed is not None:
        own = graph._last_id if op_seed is None else op_seed
        seeds = graph.seed % _MAX_INT32, own % _MAX_INT32
    elif op_seed is not None:
        seeds = DEFAULT_GRAPH_SEED, op_seed % _MAX_INT32
    else:
        return None, None
    # A kernel takes two zeros to mean "seed yourself", which is not meant here.
    return seeds if seeds != (0, 0) else (0, _MAX_INT32)


def seed_attrs(op_seed: int | None) -> dict[str, int]:
    """The attrs `seed` and `seed2` of an op made now; zeros when neither seed was set."""
    seed, seed2 = get_seed(op_seed)
    return {"seed": seed or 0, "seed2": seed2 or 0}


def set_random_seed(seed: int | None) -> None:
    """Sets the default graph's seed, from which ops made later derive theirs.

    Args:
        seed: an integer; operations without a seed of their own differ, but the same program draws
            the same numbers in every new session.

    Example:
        >>> tf.set_random_seed(1)
        >>> x = tf.random_uniform([])
        >>> with tf.Session() as one, tf.Session() as other:
        ...     bool(one.run(x) == other.run(x))
        True
    """
    get_default_graph().seed = seed
