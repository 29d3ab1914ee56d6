"""Samples of the ops by which TensorFlow 2 parses examples, with ragged features."""

from __future__ import annotations

from typing import Any

from tests.ops.sample import Sample, b, f32, i64, s
from tests.ops.samples.parsing import EXAMPLES, SEQUENCES

_A, _B, _C = EXAMPLES
_SEQ, _SEQ2 = SEQUENCES
_NOTHING: dict[str, Any] = dict(
    names=[], sparse={}, dense={}, ragged={},
    context_sparse={}, context_dense={}, context_ragged={},
    list_sparse={}, list_dense={}, list_ragged={},
)  # fmt: skip


def _examples(serialized: Any, **given: Any) -> Sample:
    """Sparse: key to type. Dense: key to (default, shape). Ragged: key to types."""
    features = _NOTHING | given
    sparse, dense, ragged = features["sparse"], features["dense"], features["ragged"]
    return Sample(
        "ParseExampleV2", s(serialized), s(features["names"]), s([*sparse]), s([*dense]),
        s([*ragged]), [default for default, _ in dense.values()], num_sparse=len(sparse),
        sparse_types=[*sparse.values()], ragged_value_types=[v for v, _ in ragged.values()],
        ragged_split_types=[split for _, split in ragged.values()],
        dense_shapes=[dims for _, dims in dense.values()],
    )  # fmt: skip


def _sequences(serialized: Any, **given: Any) -> Sample:
    """As above; dense lists: key to (type, shape, whether the list may be missing)."""
    f = _NOTHING | given
    context, lists = f["context_ragged"].values(), f["list_ragged"].values()
    names = ("context_sparse", "context_dense", "context_ragged", "list_sparse", "list_dense",
             "list_ragged")  # fmt: skip
    return Sample(
        "ParseSequenceExampleV2", s(serialized), s(f["names"]), *(s([*f[name]]) for name in names),
        b([optional for _, _, optional in f["list_dense"].values()]),
        [default for default, _ in f["context_dense"].values()],
        Ncontext_sparse=len(f["context_sparse"]),
        context_sparse_types=[*f["context_sparse"].values()],
        context_ragged_value_types=[value for value, _ in context],
        context_ragged_split_types=[split for _, split in context],
        context_dense_shapes=[dims for _, dims in f["context_dense"].values()],
        Nfeature_list_sparse=len(f["list_sparse"]),
        Nfeature_list_dense=len(f["list_dense"]),
        feature_list_dense_types=[dtype for dtype, _, _ in f["list_dense"].values()],
        feature_list_sparse_types=[*f["list_sparse"].values()],
        feature_list_ragged_value_types=[value for value, _ in lists],
        feature_list_ragged_split_types=[split for _, split in lists],
        feature_list_dense_shapes=[dims for _, dims, _ in f["list_dense"].values()],
    )  # fmt: skip


_MANY: dict[str, Any] = dict(
    sparse={"one": "string"},
    dense={"f": (f32([]), [2]), "d": (i64(7), [])},
    ragged={"s": ("string", "int64"), "i": ("int64", "int32"), "no": ("float32", "int64")},
)
_STEPS: dict[str, Any] = dict(
    context_sparse={"v": "float32", "no": "string"},
    context_dense={"c": (i64([]), []), "d": (f32([1, 2]), [2])},
    list_sparse={"w": "string"},
    list_dense={"t": ("int64", [2], True), "no": ("float32", [], True)},
)
_RAGGED_STEPS: dict[str, Any] = dict(
    context_ragged={"v": ("float32", "int32"), "no": ("int64", "int64")},
    list_ragged={
        "w": ("string", "int32"),
        "t": ("int64", "int64"),
        "no": ("float32", "int64"),
    },
)

SAMPLES = [
    _examples([_A, _B, _C], **_MANY),
    _examples([], **_MANY),
    _examples(_A, **_MANY),
    _examples(_C, **_MANY),
    _examples([_A, _B, _C], dense={"i": (i64(-5), [None]), "s": (s("pad"), [None, 1])}),
    _examples(_A, dense={"i": (i64(-5), [None]), "no": (s("pad"), [None, 1])}),
    _examples([_A, _B], names=["a", "b"], sparse={"i": "int64"}),
    _examples([_A, _B], names=["a"], sparse={"i": "int64"}),
    _examples([_A, _B], names=["a", "b"], ragged={"i": ("float32", "int64")}),
    _examples(_A, ragged={"i": ("float32", "int64")}),
    _examples([_A, _B], dense={"i": (i64([]), [2])}),
    _examples(_A, dense={"i": (i64([]), [2])}),
    _examples(_A, dense={"i": (i64(0), [None, 2])}),
    _examples([_A], dense={"i": (i64([]), [2, None])}),
    _examples([_A], dense={"no": (f32([]), [2])}),
    _examples(_A, dense={"no": (f32([]), [2])}),
    _examples([[_A]], sparse={"i": "int64"}),
    _examples(["abc"], sparse={"i": "int64"}),
    _sequences([_SEQ, _SEQ2], **_STEPS),
    _sequences([_SEQ2, _SEQ], **_STEPS, names=["a", "b"]),
    _sequences(_SEQ, **_STEPS),
    _sequences(_SEQ2, **_STEPS, names="a"),
    _sequences([_SEQ, _SEQ2], **_RAGGED_STEPS),
    _sequences([_SEQ2, _SEQ], **_RAGGED_STEPS),
    _sequences([], **_RAGGED_STEPS),
    _sequences([], **(_STEPS | dict(context_dense={"c": (i64(4), [])}))),
    _sequences([_SEQ2, _SEQ], context_dense={"v": (f32([5, 6]), [2])}),
    _sequences([_SEQ2, _SEQ], context_dense={"v": (f32([]), [2])}),
    _sequences([_SEQ, _SEQ2], context_dense={"v": (f32([1, 2, 3]), [3])}),
    _sequences([_SEQ], context_dense={"v": (f32([1]), [])}),
    _sequences([_SEQ], context_dense={"v": (f32([]), [2])}, context_sparse={"v": "float32"}),
    _sequences([_SEQ], context_ragged={"v": ("int64", "int64")}),
    _sequences([_SEQ], list_dense={"no": ("int64", [], False)}),
    _sequences([_SEQ], list_dense={"t": ("int64", [3], False)}),
    _sequences([_SEQ], list_dense={"w": ("string", [], False)}),
    _sequences([_SEQ], list_dense={"t": ("int64", [None], False)}),
    _sequences([_SEQ], list_sparse={"t": "string"}),
    _sequences([[_SEQ]], list_sparse={"t": "int64"}),
    _sequences(["abc"], list_sparse={"t": "int64"}),
    _sequences([_SEQ], list_sparse={"t": "int64"}, names=["a", "b"]),
]
