"""Rows for TensorFlow before 1.0: (kind, reason, holder, {old name: substitute})."""

from __future__ import annotations

_GONE = "gone since TensorFlow 1.0"
_SHARED = "its weights shared since TensorFlow 1.1"
_NO_EFFECT = "without effect in TensorFlow 1.15"
_GONE_LATER = "gone since TensorFlow 1.9"
_CHANGED = "other arguments since TensorFlow 1.0"
_OWN = "weft.legacy.old.tensorflow_behaviour"
_DEPRECATED = "weft.contrib.deprecated"

# Names with the same arguments under another name in 1.15.
RENAMED = {
    "all_variables": "global_variables",
    "batch_cholesky": "cholesky",
    "batch_fft": "fft",
    "batch_fft2d": "fft2d",
    "batch_fft3d": "fft3d",
    "batch_ifft": "ifft",
    "batch_ifft2d": "ifft2d",
    "batch_ifft3d": "ifft3d",
    "batch_matrix_band_part": "matrix_band_part",
    "batch_matrix_determinant": "matrix_determinant",
    "batch_matrix_diag": "matrix_diag",
    "batch_matrix_diag_part": "matrix_diag_part",
    "batch_matrix_inverse": "matrix_inverse",
    "batch_matrix_solve": "matrix_solve",
    "batch_matrix_solve_ls": "matrix_solve_ls",
    "batch_matrix_transpose": "matrix_transpose",
    "batch_matrix_triangular_solve": "matrix_triangular_solve",
    "batch_self_adjoint_eig": "self_adjoint_eig",
    "batch_svd": "svd",
    "complex_abs": "abs",
    "image.per_image_whitening": "image.per_image_standardization",
    "image.random_crop": "random_crop",
    "initialize_all_variables": "global_variables_initializer",
    "initialize_local_variables": "local_variables_initializer",
    "initialize_variables": "variables_initializer",
    "inv": "reciprocal",
    "listdiff": "setdiff1d",
    "mul": "multiply",
    "neg": "negative",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn",
    "nn.deconv2d": "nn.conv2d_transpose",
    "nn.rnn": "nn.static_rnn",
    "nn.seq2seq": "contrib.legacy_seq2seq",
    "nn.state_saving_rnn": "nn.static_state_saving_rnn",
    "pack": "stack",
    "select": "where",
    "sub": "subtract",
    "train.SummaryWriter": "summary.FileWriter",
    "unpack": "unstack",
}
_SUMMARIES = (
    "audio_summary histogram_summary image_summary merge_all_summaries merge_summary"
    " scalar_summary".split()
)
RENAMED |= {name: f"contrib.deprecated.{name}" for name in _SUMMARIES}
# Names whose functions 1.15 does not have.
WRITTEN = {
    "batch_matmul": "batch_matmul",
    "nn.rnn_cell._linear": "linear",
    "nn.rnn_cell.linear": "linear",
    "python.ops.rnn_cell._linear": "linear",
    "python.ops.rnn_cell.linear": "linear",
}
# Names inside of the modules that `tf.*` were until 1.9 listed what is public.
INSIDE = {"logging._logger": "logger", "python.platform.tf_logging._logger": "logger"}
# Names that 1.15 has, too, but that took their arguments otherwise.
REARRANGED = (
    "concat",
    "image.resize_images",
    "nn.nce_loss",
    "nn.sampled_softmax_loss",
    "nn.sigmoid_cross_entropy_with_logits",
    "nn.softmax_cross_entropy_with_logits",
    "nn.sparse_softmax_cross_entropy_with_logits",
    "reverse",
    "split",
)

# Losses of sequences, by the modules that have them.
_LOSSES = "weft.legacy.old.tensorflow_losses"
_LEGACY_LOSSES = {
    name: f"{_LOSSES}.legacy_{name}"
    for name in ("model_with_buckets", "sequence_loss", "sequence_loss_by_example")
}
_SEQUENCES = {
    "tensorflow.contrib.legacy_seq2seq": _LEGACY_LOSSES,
    "tensorflow.contrib.legacy_seq2seq.python.ops.seq2seq": _LEGACY_LOSSES,
    "tensorflow.contrib.seq2seq": {"sequence_loss": f"{_LOSSES}.sequence_loss"},
    "weft.lib.contrib.legacy_seq2seq": _LEGACY_LOSSES,
}

_MODULES = {
    "tensorflow.models": "",
    "tensorflow.models.rnn": "",
    "tensorflow.models.rnn.linear": "weft.legacy.old.modules.tensorflow_linear",
    "tensorflow.models.rnn.rnn": "weft.legacy.old.modules.tensorflow_rnn",
    "tensorflow.models.rnn.rnn_cell": "weft.nn.rnn_cell",
    "tensorflow.models.rnn.seq2seq": "weft.contrib.legacy_seq2seq",
    "tensorflow.python.ops.seq2seq": "weft.contrib.legacy_seq2seq",
}


def has_module(name: str) -> bool:
    """Whether a module is in the table."""
    return name in _MODULES


def _of_holders(
    kind: str, reason: str, names: dict[str, str]
) -> list[tuple[str, str, str, dict[str, str]]]:
    """Rows of names that may be below a namespace: one for each holder."""
    holders: dict[str, dict[str, str]] = {}
    for old, new in names.items():
        holder, _, name = f"tensorflow.{old}".rpartition(".")
        holders.setdefault(holder, {})[name] = new
    return [(kind, reason, holder, found) for holder, found in holders.items()]


ROWS: list[tuple[str, str, str, dict[str, str]]] = [
    *_of_holders("name", _GONE, {old: f"weft.{new}" for old, new in RENAMED.items()}),
    *_of_holders("name", _GONE, {old: f"{_OWN}.{new}" for old, new in WRITTEN.items()}),
    *_of_holders("name", _GONE_LATER, {old: f"{_OWN}.{new}" for old, new in INSIDE.items()}),
    *_of_holders(
        "changed", _CHANGED, {old: f"{_OWN}.{old.rpartition('.')[2]}" for old in REARRANGED}
    ),
    *(("changed", _CHANGED, holder, names) for holder, names in _SEQUENCES.items()),
    ("changed", _NO_EFFECT, "tensorflow", {"variable_scope": f"{_OWN}.variable_scope"}),
    (
        "changed",
        _SHARED,
        "tensorflow.nn.rnn_cell",
        {"MultiRNNCell": "weft.legacy.old.tensorflow_cells.MultiRNNCell"},
    ),
    (
        "method",
        _GONE,
        "tensorflow.TensorArray",
        {"pack": "weft.TensorArray.stack", "unpack": "weft.TensorArray.unstack"},
    ),
    ("module", _GONE, "", _MODULES),
]
