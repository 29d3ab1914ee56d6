"""The variables that columns look into, made in the open variable scope or shared."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, get_default_graph
from weft.lib.contrib.framework.variables import model_variable
from weft.lib.contrib.layers.column_base import DeepArguments, inner_flatten
from weft.lib.contrib.layers.scattered import scattered_embedding_lookup_sparse
from weft.lib.feature_column.embedding import load_table
from weft.lib.platform import tf_logging as logging
from weft.ops.nn import embedding_safe
from weft.ops.state.partitioned_variable import PartitionedVariable


def embeddings(
    column: Any, args: DeepArguments, weight_collections: Any, trainable: bool, output_rank: int = 2
) -> Tensor:
    """The rows of a column."""
    ids = inner_flatten(args.input_tensor, output_rank)
    weights = args.weight_tensor
    if weights is not None:
        weights = inner_flatten(weights, output_rank)
    settings: dict[str, Any] = {
        "dtype": dtypes.float32,
        "initializer": args.initializer,
        "trainable": trainable and args.trainable,
        "collections": weight_collections,
    }
    if args.hash_key:
        vector = model_variable(name="weights", shape=[args.vocab_size], **settings)
        return scattered_embedding_lookup_sparse(
            vector, ids, args.dimension, args.combiner, hash_key=args.hash_key, name="lookup"
        )
    table = _table(args, settings)
    load_table(table, *(column._checkpoint_path() or (None, None)))
    return embedding_safe.safe_embedding_lookup_sparse(
        parts(table),
        ids,
        weights,
        combiner=args.combiner,
        name=column.name + "weights",
        max_norm=args.max_norm,
    )


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Tensor:
    """`tf.nn.safe_embedding_lookup_sparse`, which warns where no combiner is named."""
    given = {**locals(), "combiner": combiner or "mean"}
    if combiner is None:
        logging.warn(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
    return embedding_safe.safe_embedding_lookup_sparse(**given)


def parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _table(args: DeepArguments, settings: dict[str, Any]) -> Any:
    shape, shared = [args.vocab_size, args.dimension], args.shared_embedding_name
    if shared is None:
        return model_variable(name="weights", shape=shape, **settings)
    collection = "SHARED_EMBEDDING_COLLECTION_" + shared.upper()
    known = get_default_graph().get_collection_ref(collection)
    if not known:
        known.append(model_variable(name=shared, shape=shape, **settings))
    if len(known) > 1:
        raise ValueError(f"Collection {collection} can only contain one (partitioned) variable.")
    if known[0].get_shape() != shape:
        raise ValueError(
            f"The embedding variable with name {shared} already exists, but its shape does not "
            "match required embedding shape here. Please make sure to use different "
            "shared_embedding_name for different shared embeddings."
        )
    return known[0]
