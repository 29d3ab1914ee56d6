"""Rows for SciPy, Pillow and other libraries: (kind, reason, holder, {old name: substitute})."""

from __future__ import annotations

_OWN = "weft.legacy.old.library_behaviour"
_IMAGES = "weft.legacy.old.scipy_images"

_MISC = {
    **{
        name: f"{_IMAGES}.{name}"
        for name in "imread imsave imresize imrotate imshow toimage fromimage bytescale".split()
    },
    **{
        name: f"scipy.special.{name}"
        for name in ("logsumexp", "comb", "factorial", "factorial2", "factorialk")
    },
    **{name: f"scipy.datasets.{name}" for name in ("face", "ascent", "electrocardiogram")},
    "derivative": f"{_OWN}.derivative",
    "lena": "scipy.datasets.ascent",
    "info": "numpy.info",
}
# SciPy had NumPy's names, too.
_NUMPYS = (
    "absolute all any arange arccos arcsin arctan arctan2 argmax argmin argsort argwhere array"
    " asarray atleast_1d atleast_2d ceil clip concatenate cos cosh cumsum diag diff dot e empty"
    " exp expand_dims eye fliplr floor hstack identity inf interp isnan isinf linspace"
    " loadtxt log10 logspace maximum mean median meshgrid minimum nan newaxis nonzero"
    " ones ones_like outer pi polyfit polyval prod ravel real repeat reshape roll rot90"
    " sign sin sinh sort squeeze std sum tan tanh tile transpose unique vstack where zeros"
    " zeros_like float32 float64 int32 int64 uint8 uint16 uint32 uint64 int8 int16"
).split()
_WINDOWS = (
    "barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop"
    " gaussian general_gaussian hamming hann kaiser nuttall parzen triang tukey"
).split()
_GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
_LEARNS_SPLITTERS = "sklearn.model_selection"

ROWS: list[tuple[str, str, str, dict[str, str]]] = [
    ("name", "gone since SciPy 1.3", "scipy.misc", _MISC),
    ("module", "gone since SciPy 2.0", "", {"scipy.misc": _IMAGES}),
    ("module", "gone since SciPy 1.3", "", {"scipy.misc.pilutil": _IMAGES}),
    (
        "module",
        "gone since SciPy 1.8",
        "",
        {
            "scipy.sparse.linalg.eigen.arpack": "scipy.sparse.linalg",
            "scipy.sparse.linalg.eigen.arpack.arpack": "scipy.sparse.linalg",
            "scipy.sparse.linalg.eigen.lobpcg": "scipy.sparse.linalg",
        },
    ),
    (
        "name",
        "gone since SciPy 1.3",
        "scipy",
        {
            **{name: f"numpy.{name}" for name in _NUMPYS},
            "rand": "numpy.random.rand",
            "randn": "numpy.random.randn",
            "random": "numpy.random",
            **{name: f"numpy.lib.scimath.{name}" for name in ("sqrt", "log", "log2", "power")},
        },
    ),
    (
        "name",
        "gone since SciPy 1.14",
        "scipy.integrate",
        {
            "simps": "scipy.integrate.simpson",
            "trapz": "scipy.integrate.trapezoid",
            "cumtrapz": "scipy.integrate.cumulative_trapezoid",
        },
    ),
    (
        "name",
        "gone since SciPy 1.13",
        "scipy.signal",
        {
            **{name: f"scipy.signal.windows.{name}" for name in _WINDOWS},
            "hanning": "scipy.signal.windows.hann",
        },
    ),
    ("name", "gone since SciPy 1.9", "scipy.linalg", {"pinv2": "scipy.linalg.pinv"}),
    (
        "name",
        "gone since SciPy 1.3",
        "scipy.stats",
        {"itemfreq": f"{_OWN}.itemfreq", "nanmean": "numpy.nanmean", "nanstd": "numpy.nanstd"},
    ),
    ("name", "gone since SciPy 1.12", "scipy.stats", {"binom_test": f"{_OWN}.binom_test"}),
    ("name", "gone since SciPy 1.2", "scipy.ndimage", {"imread": f"{_IMAGES}.imread"}),
    (
        "method",
        "gone since SciPy 1.14",
        "scipy.sparse._base._spbase",
        {"asfptype": f"{_OWN}.as_floats"},
    ),
    (
        "property",
        "gone since SciPy 1.14",
        "scipy.sparse._base._spbase",
        {"A": f"{_OWN}.as_array", "H": f"{_OWN}.conjugate_transpose"},
    ),
    (
        "name",
        "gone since Pillow 10",
        "PIL.Image",
        {
            "ANTIALIAS": "PIL.Image.LANCZOS",
            "LINEAR": "PIL.Image.BILINEAR",
            "CUBIC": "PIL.Image.BICUBIC",
            "NONE": "PIL.Image.NEAREST",
        },
    ),
    ("name", "gone since Pillow 3", "PIL.Image", {"fromstring": "PIL.Image.frombytes"}),
    (
        "method",
        "gone since Pillow 3",
        "PIL.Image.Image",
        {"tostring": "PIL.Image.Image.tobytes", "fromstring": "PIL.Image.Image.frombytes"},
    ),
    (
        "method",
        "gone since Pillow 10",
        "PIL.ImageFont.FreeTypeFont",
        {"getsize": f"{_OWN}.text_size", "getoffset": f"{_OWN}.text_offset"},
    ),
    (
        "method",
        "gone since Pillow 10",
        "PIL.ImageFont.ImageFont",
        {"getsize": f"{_OWN}.text_size"},
    ),
    (
        "method",
        "gone since Pillow 10",
        "PIL.ImageDraw.ImageDraw",
        {"textsize": f"{_OWN}.drawn_text_size"},
    ),
    ("changed", "read only since h5py 3", "h5py", {"File": "weft.legacy.old.h5py_files.File"}),
    ("property", "gone since h5py 3", "h5py.File", {"fid": "weft.legacy.old.h5py_files.fid"}),
    ("property", "gone since h5py 3", "h5py.Dataset", {"value": f"{_OWN}.everything"}),
    ("changed", "stricter since PyYAML 6", "yaml", {"load": f"{_OWN}.yaml_load"}),
    ("changed", "stricter since pytest 8", "pytest", {"warns": f"{_OWN}.pytest_warns"}),
    (
        "module",
        "gone since scikit-learn 0.23",
        "",
        {
            "sklearn.externals": "",
            "sklearn.externals.joblib": "joblib",
            "sklearn.externals.six": "six",
            "sklearn.externals.six.moves": "six.moves",
        },
    ),
    (
        "module",
        "gone since scikit-learn 0.20",
        "",
        {
            "sklearn.cross_validation": _LEARNS_SPLITTERS,
            "sklearn.grid_search": _LEARNS_SPLITTERS,
            "sklearn.learning_curve": _LEARNS_SPLITTERS,
            "sklearn.lda": "sklearn.discriminant_analysis",
            "sklearn.qda": "sklearn.discriminant_analysis",
        },
    ),
    (
        "module",
        "gone since scikit-learn 0.24",
        "",
        {
            "sklearn.datasets.samples_generator": "sklearn.datasets",
            "sklearn.datasets.base": "sklearn.datasets",
            "sklearn.metrics.classification": "sklearn.metrics",
            "sklearn.metrics.ranking": "sklearn.metrics",
            "sklearn.metrics.scorer": "sklearn.metrics",
            "sklearn.preprocessing.data": "sklearn.preprocessing",
            "sklearn.preprocessing.label": "sklearn.preprocessing",
            "sklearn.preprocessing.imputation": "sklearn.impute",
            "sklearn.linear_model.logistic": "sklearn.linear_model",
            "sklearn.linear_model.base": "sklearn.linear_model",
            "sklearn.ensemble.forest": "sklearn.ensemble",
            "sklearn.tree.tree": "sklearn.tree",
            "sklearn.svm.classes": "sklearn.svm",
            "sklearn.neighbors.classification": "sklearn.neighbors",
            "sklearn.decomposition.pca": "sklearn.decomposition",
            "sklearn.cluster.k_means_": "sklearn.cluster",
            "sklearn.feature_extraction.stop_words": "sklearn.feature_extraction._stop_words",
            "sklearn.utils.testing": "sklearn.utils._testing",
            "sklearn.utils.linear_assignment_": f"{_OWN}",
            "sklearn.mixture.gmm": "sklearn.mixture",
            "sklearn.mixture.gaussian_mixture": "sklearn.mixture",
            "sklearn.manifold.t_sne": "sklearn.manifold",
        },
    ),
    (
        "name",
        "gone since scikit-learn 0.22",
        "sklearn.preprocessing",
        {"Imputer": "sklearn.impute.SimpleImputer"},
    ),
    (
        "name",
        "gone since scikit-learn 0.24",
        "sklearn.datasets",
        {"fetch_mldata": f"{_OWN}.fetch_mldata"},
    ),
    (
        "method",
        "gone since scikit-learn 1.2",
        "sklearn.feature_extraction.text.CountVectorizer",
        {"get_feature_names": f"{_OWN}.feature_names"},
    ),
    ("method", "gone since pandas 1.0", "pandas.DataFrame", {"as_matrix": f"{_OWN}.as_matrix"}),
    (
        "method",
        "gone since pandas 2.0",
        "pandas.DataFrame",
        {"append": f"{_OWN}.append_rows", "iteritems": "pandas.DataFrame.items"},
    ),
    (
        "method",
        "gone since pandas 2.0",
        "pandas.Series",
        {"append": f"{_OWN}.append_rows", "iteritems": "pandas.Series.items"},
    ),
    ("method", "gone since pandas 1.0", "pandas.Series", {"as_matrix": f"{_OWN}.as_matrix"}),
    (
        "property",
        "gone since pandas 1.0",
        "pandas.DataFrame",
        {"ix": f"{_OWN}.by_label_or_position"},
    ),
    ("property", "gone since pandas 1.0", "pandas.Series", {"ix": f"{_OWN}.by_label_or_position"}),
    (
        "method",
        "gone since pandas 3.0",
        "pandas.DataFrame",
        {"applymap": "pandas.DataFrame.map"},
    ),
    (
        "method",
        "gone since pandas 1.0",
        "pandas.DataFrame",
        {"sort": "pandas.DataFrame.sort_values", "get_value": f"{_OWN}.value_at"},
    ),
    (
        "name",
        "gone since pandas 0.23",
        "pandas",
        {
            "rolling_mean": f"{_OWN}.rolling_mean",
            "rolling_std": f"{_OWN}.rolling_std",
            "ewma": f"{_OWN}.weighted_mean",
        },
    ),
    (
        "module",
        "gone since pandas 1.0",
        "",
        {
            "pandas.tools": "",
            "pandas.tools.plotting": "pandas.plotting",
            "pandas.util.testing": "pandas.testing",
            "pandas.io.data": "pip install pandas-datareader",
        },
    ),
    (
        "name",
        "gone since Matplotlib 3.0",
        "matplotlib.pyplot",
        {"hold": "weft.legacy.old.python_behaviour.nothing"},
    ),
    (
        "name",
        "gone since Matplotlib 3.9",
        "matplotlib.cm",
        {"get_cmap": "matplotlib.pyplot.get_cmap", "spectral": f"{_OWN}.SPECTRAL"},
    ),
    (
        "method",
        "gone since Matplotlib 3.0",
        "matplotlib.axes._axes.Axes",
        {
            "hold": "weft.legacy.old.python_behaviour.nothing",
            "set_axis_bgcolor": "matplotlib.axes.Axes.set_facecolor",
            "get_axis_bgcolor": "matplotlib.axes.Axes.get_facecolor",
        },
    ),
    (
        "name",
        "gone since Matplotlib 3.8",
        "matplotlib.mlab",
        {"bivariate_normal": f"{_OWN}.bivariate_normal", "normpdf": f"{_OWN}.normal_density"},
    ),
    (
        "module",
        "gone since Matplotlib 2.2",
        "",
        {"matplotlib.finance": "pip install mplfinance"},
    ),
    (
        "method",
        "gone since NetworkX 2.4",
        "networkx.Graph",
        {
            "nodes_iter": f"{_OWN}.iterate_nodes",
            "edges_iter": f"{_OWN}.iterate_edges",
            "neighbors_iter": "networkx.Graph.neighbors",
        },
    ),
    ("property", "gone since NetworkX 2.4", "networkx.Graph", {"node": f"{_OWN}.graph_nodes"}),
    (
        "name",
        "gone since NetworkX 3",
        "networkx",
        {
            "from_numpy_matrix": "networkx.from_numpy_array",
            "to_numpy_matrix": f"{_OWN}.graph_matrix",
            "from_scipy_sparse_matrix": "networkx.from_scipy_sparse_array",
            "to_scipy_sparse_matrix": "networkx.to_scipy_sparse_array",
            "connected_component_subgraphs": f"{_OWN}.connected_parts",
            "read_gpickle": f"{_OWN}.read_pickled_graph",
            "write_gpickle": f"{_OWN}.write_pickled_graph",
            # Every graph keeps the order of its nodes and edges now.
            **{f"Ordered{name}": f"networkx.{name}" for name in _GRAPHS},
        },
    ),
]
