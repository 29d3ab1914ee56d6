"""Arguments that callers of an operation know by another name than its nodes do."""

_AXES = {"reduction_indices": "axis"}

# operation -> its own name of an argument -> the name in `tf.raw_ops` and the generated modules
API_NAMES: dict[str, dict[str, str]] = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _AXES),
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}
