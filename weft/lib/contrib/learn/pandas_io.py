"""Arrays of pandas' and Dask's data, for tf.contrib.learn."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_DASK = importlib.util.find_spec("dask") is not None


def _is(value: Any, *kinds: str) -> bool:
    """Whether it is one of a library's kinds, which need not be there."""
    return any(
        f"{each.__module__.split('.')[0]}.{each.__name__}" in kinds for each in type(value).__mro__
    )


def extract_pandas_data(data: Any) -> Any:
    """The numbers of a DataFrame, as floats; anything else as it is."""
    if not _is(data, "pandas.DataFrame"):
        return data
    others = [name for name, kind in data.dtypes.items() if kind.kind not in "iufb"]
    if not others:
        return data.values.astype("float")
    found = ", ".join(f"'{name}' type='{data.dtypes[name]}'" for name in others)
    raise ValueError(
        f"Data types for extracting pandas data must be int, float, or bool. Found: {found}"
    )


def extract_pandas_matrix(data: Any) -> Any:
    """The values of a DataFrame; anything else as it is."""
    return data.values if _is(data, "pandas.DataFrame") else data


def extract_pandas_labels(labels: Any) -> Any:
    """The values of a DataFrame of one column; anything else as it is."""
    if not _is(labels, "pandas.DataFrame"):
        return labels
    if len(labels.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    return labels.values


def extract_dask_data(data: Any) -> Any:
    """The values of a Dask series or frame; anything else as it is."""
    kinds = ("dask.DataFrame", "dask.Series", "dask_expr.DataFrame", "dask_expr.Series")
    return np.asarray(data.compute()) if _is(data, *kinds) else data


def extract_dask_labels(labels: Any) -> Any:
    """The values of a Dask series or of a frame of one column; anything else as it is."""
    if _is(labels, "dask.DataFrame", "dask_expr.DataFrame") and len(labels.columns) > 1:
        raise ValueError("Only one column is allowed.")
    return extract_dask_data(labels)
