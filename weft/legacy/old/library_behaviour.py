"""Substitutes for what SciPy, Pillow, pandas and other libraries had or allowed."""

from __future__ import annotations

import importlib
import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.legacy.old import notices

SPECTRAL = "nipy_spectral"


def derivative(
    function: Callable[..., Any],
    x0: Any,
    dx: float = 1.0,
    n: int = 1,
    args: Any = (),
    order: int = 3,
) -> Any:
    """The `n`th derivative at `x0` by central differences over `order` points."""
    if order < n + 1 or order % 2 == 0:
        raise ValueError("'order' must be odd and at least the derivative order 'n' + 1")
    reach = order >> 1
    points = np.arange(-reach, reach + 1)
    powers = np.vander(points, increasing=True).T
    wanted = np.zeros(order)
    wanted[n] = math.factorial(n)
    weights = np.linalg.solve(powers, wanted)
    return sum(w * function(x0 + k * dx, *args) for w, k in zip(weights, points, strict=True)) / (
        dx**n
    )


def itemfreq(values: Any) -> np.ndarray:
    """Each value and how often it comes."""
    return np.array(np.unique(values, return_counts=True)).T


def binom_test(x: Any, n: Any = None, p: float = 0.5, alternative: str = "two-sided") -> float:
    """The p-value of a binomial test."""
    found, trials = (x[0], x[0] + x[1]) if n is None else (x, n)
    stats = importlib.import_module("scipy.stats")
    return float(stats.binomtest(int(found), int(trials), p, alternative).pvalue)


def as_floats(matrix: Any) -> Any:
    """A sparse matrix of floats."""
    return matrix if matrix.dtype.kind in "fc" else matrix.astype(np.float64)


def as_array(matrix: Any) -> np.ndarray:
    """A sparse matrix as a dense array."""
    dense: np.ndarray = matrix.toarray()
    return dense


def conjugate_transpose(matrix: Any) -> Any:
    """The conjugate transpose."""
    return matrix.conjugate().T


def text_size(font: Any, text: str, *args: Any, **options: Any) -> tuple[int, int]:
    """(width, height) of a text."""
    _, _, right, bottom = font.getbbox(text, *args, **options)
    return right, bottom


def text_offset(font: Any, text: str) -> tuple[int, int]:
    """Where the text begins in its box."""
    left, top, _, _ = font.getbbox(text)
    return left, top


def drawn_text_size(draw: Any, text: str, font: Any = None, **options: Any) -> tuple[int, int]:
    """(width, height) of a text as it would be drawn."""
    _, _, right, bottom = draw.textbbox((0, 0), text, font=font, **options)
    return right, bottom


def everything(dataset: Any) -> Any:
    """The whole of a data set in an HDF5 file."""
    return dataset[()]


def yaml_load(stream: Any, Loader: Any = None) -> Any:
    """`yaml.load`, also without a loader: the one that makes plain values."""
    yaml = importlib.import_module("yaml")
    if Loader is None:
        notices.tell_of("yaml.load", "without a loader", "yaml.FullLoader")
    return yaml.load(stream, Loader or yaml.FullLoader)


def pytest_warns(expected_warning: Any = Warning, *args: Any, **kwargs: Any) -> Any:
    """`pytest.warns`, also with None for no kind of warning: all are recorded, none is needed."""
    pytest = importlib.import_module("pytest")
    if expected_warning is not None:
        return pytest.warns(expected_warning, *args, **kwargs)
    notices.tell_of("pytest.warns", "with None", "a recorder of warnings")
    return pytest.WarningsRecorder(_ispytest=True)


def fetch_mldata(name: str, **options: Any) -> Any:
    """A data set of mldata.org, which is gone, from openml.org."""
    datasets = importlib.import_module("sklearn.datasets")
    known = {"mnist original": "mnist_784"}.get(name.lower(), name)
    found = datasets.fetch_openml(known, version=1, as_frame=False, **options)
    found.target = found.target.astype(np.float64)
    return found


def linear_assignment(costs: Any) -> np.ndarray:
    """Pairs (row, column) of least total cost."""
    optimize = importlib.import_module("scipy.optimize")
    return np.array(optimize.linear_sum_assignment(costs)).T


def feature_names(vectorizer: Any) -> list[str]:
    """The words of a vectorizer."""
    return list(vectorizer.get_feature_names_out())


def as_matrix(table: Any, columns: Any = None) -> np.ndarray:
    """The values of a table, or of some of its columns."""
    values: np.ndarray = (table if columns is None else table[columns]).values
    return values


def append_rows(table: Any, other: Any, ignore_index: bool = False, **options: Any) -> Any:
    """The rows of one table after those of another."""
    pandas = importlib.import_module("pandas")
    if isinstance(other, dict):
        other = pandas.DataFrame([other])
    elif isinstance(other, pandas.Series) and isinstance(table, pandas.DataFrame):
        other = other.to_frame().T
    several = other if isinstance(other, list | tuple) else [other]
    if isinstance(table, pandas.DataFrame):
        several = [pandas.DataFrame([x]) if isinstance(x, dict) else x for x in several]
    options = {key: value for key, value in options.items() if key in ("verify_integrity", "sort")}
    return pandas.concat([table, *several], ignore_index=ignore_index, **options)


class by_label_or_position:
    """`table.ix[rows, columns]`: labels, or positions where the labels are no integers."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getitem__(self, where: Any) -> Any:
        return self._way(where)[where]

    def __setitem__(self, where: Any, value: Any) -> None:
        self._way(where)[where] = value

    def _way(self, where: Any) -> Any:
        try:
            self._table.loc[where]
        except (KeyError, TypeError):
            return self._table.iloc
        return self._table.loc


def value_at(table: Any, row: Any, column: Any) -> Any:
    """One value by its labels."""
    return table.at[row, column]


def rolling_mean(values: Any, window: int, **options: Any) -> Any:
    """The mean of a moving window."""
    return values.rolling(window, **options).mean()


def rolling_std(values: Any, window: int, **options: Any) -> Any:
    """The standard deviation of a moving window."""
    return values.rolling(window, **options).std()


def weighted_mean(values: Any, **options: Any) -> Any:
    """The exponentially weighted mean."""
    return values.ewm(**options).mean()


def normal_density(x: Any, mu: Any, sigma: Any) -> Any:
    """The density of a normal distribution."""
    return np.exp(-0.5 * ((x - mu) / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)


def bivariate_normal(
    X: Any,
    Y: Any,
    sigmax: float = 1.0,
    sigmay: float = 1.0,
    mux: float = 0.0,
    muy: float = 0.0,
    sigmaxy: float = 0.0,
) -> Any:
    """The density of a normal distribution in the plane."""
    x, y = (X - mux) / sigmax, (Y - muy) / sigmay
    rho = sigmaxy / (sigmax * sigmay)
    exponent = (x**2 + y**2 - 2 * rho * x * y) / (2 * (1 - rho**2))
    return np.exp(-exponent) / (2 * np.pi * sigmax * sigmay * np.sqrt(1 - rho**2))


def graph_nodes(graph: Any) -> Any:
    """The attributes of a graph's nodes."""
    return graph.nodes


def iterate_nodes(graph: Any, data: bool = False) -> Iterator[Any]:
    """The nodes of a graph, perhaps with their attributes."""
    return iter(graph.nodes(data=data))


def iterate_edges(graph: Any, *args: Any, **options: Any) -> Iterator[Any]:
    """The edges of a graph."""
    return iter(graph.edges(*args, **options))


def graph_matrix(graph: Any, *args: Any, **options: Any) -> Any:
    """The adjacency of a graph as a matrix."""
    networkx = importlib.import_module("networkx")
    return np.asmatrix(networkx.to_numpy_array(graph, *args, **options))


def connected_parts(graph: Any, copy: bool = True) -> Iterator[Any]:
    """The connected parts of a graph, as graphs."""
    networkx = importlib.import_module("networkx")
    for nodes in networkx.connected_components(graph):
        part = graph.subgraph(nodes)
        yield part.copy() if copy else part


def read_pickled_graph(path: str) -> Any:
    """A graph from a pickle."""
    with open(path, "rb") as file:
        return pickle.load(file, encoding="latin1")


def write_pickled_graph(graph: Any, path: str, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
    """A graph into a pickle."""
    with open(path, "wb") as file:
        pickle.dump(graph, file, protocol)
