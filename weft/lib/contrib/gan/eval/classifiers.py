"""Trained classifiers of images, from files: what they make of a batch."""

from __future__ import annotations

import os
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.core import dtypes, errors
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.importer import import_graph_def
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.arrays import flatten
from weft.lib.platform.resource_loader import load_resource
from weft.ops.array import array
from weft.ops.functions.functional import map_fn
from weft.ops.image.resize import resize_bilinear
from weft.ops.math import math
from weft.storage import file_io

INCEPTION_URL = (
    "https://storage.googleapis.com/download.tensorflow.org/models/"
    "frozen_inception_v1_2015_12_05.tar.gz"
)
INCEPTION_FROZEN_GRAPH = "inceptionv1_for_inception_score.pb"
INCEPTION_INPUT = "Mul:0"
INCEPTION_OUTPUT = "logits:0"
INCEPTION_FINAL_POOL = "pool_3:0"
INCEPTION_DEFAULT_IMAGE_SIZE = 299


def preprocess_image(
    images: Tensor,
    height: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    width: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    scope: str | None = None,
) -> Tensor:
    """One image or a batch, of values from 0 to 255, as Inception reads them: from -1 to 1."""
    single = images.shape.ndims == 3
    with name_scope(scope, "preprocess", [images, height, width]):
        if not images.dtype.is_floating:
            images = math.cast(images, dtypes.float32)
        batch = array.expand_dims(images, axis=0) if single else images
        scaled = (resize_bilinear(batch, [height, width]) - 128.0) / 128.0
        return array.squeeze(scaled, axis=0) if single else scaled


# ---- graphs in files ---------------------------------------------------------------------------


def get_graph_def_from_disk(filename: str) -> Any:
    """The GraphDef in a file."""
    return GraphDef.FromString(file_io.read_whole(filename))


def get_graph_def_from_resource(filename: str) -> Any:
    """The GraphDef in a file beside the program."""
    return GraphDef.FromString(load_resource(filename))


def get_graph_def_from_url_tarball(url: str, filename: str, tar_filename: str | None = None) -> Any:
    """The GraphDef in a file of an archive, which is downloaded unless it is there already.

    Raises:
        UnavailableError: it could not be downloaded.
    """
    if not (tar_filename and os.path.exists(tar_filename)):
        try:
            tar_filename, _ = urllib.request.urlretrieve(url, tar_filename)
        except urllib.error.URLError as error:
            where = tar_filename or "some path, and name it"
            raise errors.UnavailableError(
                None,
                None,
                f"{url} could not be downloaded ({error.reason}). Put the archive at {where}, or "
                "hand the graph over as `graph_def`.",
            ) from error
    with tarfile.open(tar_filename, "r:gz") as archive:
        member = archive.extractfile(filename)
        assert member is not None, f"{filename} is not a file of {tar_filename}"
        return GraphDef.FromString(member.read())


def default_graph_def() -> Any:
    """Inception's graph, from an archive in the current folder."""
    archive = os.path.basename(INCEPTION_URL)
    return get_graph_def_from_url_tarball(INCEPTION_URL, INCEPTION_FROZEN_GRAPH, archive)


# ---- running them ------------------------------------------------------------------------------


def run_image_classifier(
    tensor: Any,
    graph_def: Any,
    input_tensor: str,
    output_tensor: Any,
    scope: str = "RunClassifier",
) -> Any:
    """One output of a graph by its name, or a list of them, with `tensor` in the input's place."""
    names = [output_tensor] if isinstance(output_tensor, str) else output_tensor
    found: Any = import_graph_def(graph_def, {input_tensor: tensor}, names, name=scope)
    return found[0] if isinstance(output_tensor, str) else found


def run_inception(
    images: Any,
    graph_def: Any = None,
    default_graph_def_fn: Callable[[], Any] | None = default_graph_def,
    image_size: int = INCEPTION_DEFAULT_IMAGE_SIZE,
    input_tensor: str = INCEPTION_INPUT,
    output_tensor: Any = INCEPTION_OUTPUT,
) -> Any:
    """Logits (or other outputs) of Inception for preprocessed images, a row for each.

    Raises:
        ValueError: there is neither a graph nor a function that makes it.
        UnavailableError: Inception's graph could not be downloaded.
    """
    images = convert_to_tensor(images)
    images.shape.with_rank(4)
    images.shape.assert_is_compatible_with([None, image_size, image_size, None])
    if graph_def is None:
        if default_graph_def_fn is None:
            raise ValueError("If `graph_def` is `None`, must provide `default_graph_def_fn`.")
        graph_def = default_graph_def_fn()
    found = run_image_classifier(images, graph_def, input_tensor, output_tensor)
    return [flatten(each) for each in found] if isinstance(found, list) else flatten(found)


def in_batches(classifier_fn: Callable[..., Any], images: Any, num_batches: int) -> Tensor:
    """What a classifier makes of images, some of them at a time, to save memory."""
    found = map_fn(
        fn=classifier_fn,
        elems=array.stack(array.split(images, num_or_size_splits=num_batches)),
        parallel_iterations=1,
        back_prop=False,
        swap_memory=True,
        name="RunClassifier",
    )
    return array.concat(array.unstack(found), 0)
