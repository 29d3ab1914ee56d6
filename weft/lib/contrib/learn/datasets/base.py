"""tf.contrib.learn.datasets.base: files of comma-separated values, and files from elsewhere."""

from __future__ import annotations

import csv
import os
import urllib.request
from typing import Any, NamedTuple

import numpy as np

from weft.lib.platform import tf_logging as logging
from weft.storage import file_io
from weft.storage.file_io import GFile


class Dataset(NamedTuple):
    """Examples and what is to be learned of them."""

    data: Any
    target: Any


class Datasets(NamedTuple):
    """Examples to train on, to tune with, and to test with."""

    train: Any
    validation: Any
    test: Any


def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Rows of numbers; the first says how many rows and features there are."""
    with GFile(filename) as file:
        reader = csv.reader(file)
        shape = tuple(int(cell) for cell in next(reader)[:2])
        found = Dataset(np.zeros(shape, features_dtype), np.zeros(shape[:1], target_dtype))
        for number, row in enumerate(reader):
            found.target[number] = np.asarray(row.pop(target_column), dtype=target_dtype)
            found.data[number] = np.asarray(row, dtype=features_dtype)
    return found


def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """Rows of numbers, as many as there are."""
    data, target = [], []
    with GFile(filename) as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(np.array(data), np.array(target, dtype=target_dtype))


def load_iris(data_path: str | None = None) -> Dataset:
    """The 150 iris flowers of Anderson and Fisher: four lengths each, of three species.

    The rows are those of the UCI repository, as in TensorFlow; two differ from Fisher's paper.
    """
    path = data_path or os.path.join(os.path.dirname(__file__), "iris.csv")
    return load_csv_with_header(path, np.int64, np.float64)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file that is fetched unless it is there already."""
    path = os.path.join(work_directory, filename)
    if file_io.exists(path):
        return path
    if not file_io.exists(work_directory):
        file_io.makedirs(work_directory)
    fetched = urllib.request.urlretrieve(source_url)[0]
    file_io.copy(fetched, path)
    logging.info("Successfully downloaded %s %d bytes.", filename, os.path.getsize(fetched))
    return path
