"""tf.contrib.learn.io: what reads files, arrays and frames for models."""

from weft.lib.contrib.learn.pandas_io import HAS_DASK as HAS_DASK
from weft.lib.contrib.learn.pandas_io import HAS_PANDAS as HAS_PANDAS
from weft.lib.contrib.learn.pandas_io import extract_dask_data as extract_dask_data
from weft.lib.contrib.learn.pandas_io import extract_dask_labels as extract_dask_labels
from weft.lib.contrib.learn.pandas_io import extract_pandas_data as extract_pandas_data
from weft.lib.contrib.learn.pandas_io import extract_pandas_labels as extract_pandas_labels
from weft.lib.contrib.learn.pandas_io import extract_pandas_matrix as extract_pandas_matrix
from weft.lib.contrib.learn.reading import read_batch_examples as read_batch_examples
from weft.lib.contrib.learn.reading import read_batch_features as read_batch_features
from weft.lib.contrib.learn.reading import read_batch_record_features as read_batch_record_features
from weft.lib.contrib.learn.reading import read_keyed_batch_examples as read_keyed_batch_examples
from weft.lib.contrib.learn.reading import read_keyed_batch_features as read_keyed_batch_features
from weft.lib.estimator.inputs import numpy_input_fn as numpy_input_fn
from weft.lib.estimator.inputs import pandas_input_fn as pandas_input_fn
