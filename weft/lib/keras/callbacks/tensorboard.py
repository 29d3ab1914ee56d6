"""A callback that writes events for TensorBoard: metrics, weights, outputs, embeddings."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from weft.graph.graph import get_default_graph
from weft.lib.keras import backend as K
from weft.lib.keras.backend.symbolic import runs_eagerly
from weft.lib.keras.callbacks.base import Callback, Logs
from weft.lib.keras.callbacks.embeddings import EmbeddingsWriter
from weft.lib.summary import profile
from weft.lib.summary import summary as tf_summary
from weft.lib.summary.writer import FileWriter
from weft.ops.array import array

# Of the logs, what is no metric.
BOOKKEEPING = ("batch", "size", "num_steps")


class TensorBoard(Callback):
    """Writes to `log_dir`.

    Metrics are written after each epoch, or after `update_freq` samples ("batch": each batch).
    Every `histogram_freq` epochs, validation also gives histograms of weights and outputs (with
    `write_grads` of gradients; with `write_images` weights as images), unless the program runs
    eagerly. Of the batch with the number `profile_batch` a profile is written, for TensorBoard's
    profile plugin; 0 is for none.
    """

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: Any = "epoch",
        profile_batch: int = 2,
    ) -> None:
        super().__init__()
        self.log_dir, self.histogram_freq, self.batch_size = log_dir, histogram_freq, batch_size
        self.write_graph, self.write_grads = write_graph, write_grads
        self.write_images = write_images
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.merged: Any = None
        self.writer: Any = None
        self._embeddings: EmbeddingsWriter | None = None
        self._profile_batch, self._is_profiling = profile_batch, False
        self._total_batches_seen = 0
        self._total_val_batches_seen = 0
        self._samples_seen = 0
        self._samples_seen_at_last_write = 0

    # ---- the nodes it needs ----

    def set_model(self, model: Any) -> None:
        self.model = model
        graph = get_default_graph()
        self.writer = FileWriter(self.log_dir, graph if self.write_graph else None)
        if not runs_eagerly():  # where there is nothing to fetch
            self._make_summaries()
        if self.embeddings_freq and self.embeddings_data is not None:
            self._embeddings = EmbeddingsWriter(self)

    def _make_summaries(self) -> None:
        if self.histogram_freq and self.merged is None:
            for layer in self.model.layers:
                self._summarize(layer)
        self.merged = tf_summary.merge_all()

    def _summarize(self, layer: Any) -> None:
        for weight in layer.weights:
            name = weight.name.replace(":", "_")
            tf_summary.histogram(name, weight)
            picture = _as_image(weight) if self.write_images else None
            if picture is not None:
                tf_summary.image(name, picture)
        if self.write_grads:
            for weight in layer.trainable_weights:
                (grad,) = self.model.optimizer.get_gradients(self.model.total_loss, [weight])
                name = weight.name.replace(":", "_")
                tf_summary.histogram(f"{name}_grad", getattr(grad, "values", grad))
        if not hasattr(layer, "output"):
            return
        if isinstance(layer.output, list):
            for i, output in enumerate(layer.output):
                tf_summary.histogram(f"{layer.name}_out_{i}", output)
        else:
            tf_summary.histogram(f"{layer.name}_out", layer.output)

    # ---- what happens ----

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """In epochs that are due, validation fetches the histograms too."""
        if self._fetches_histograms and epoch % self.histogram_freq == 0:
            self.model._make_test_function()
            test = self.model.test_function
            if not _has(test.fetches, self.merged):
                test.fetches.append(self.merged)
                test.fetch_callbacks[self.merged] = self._write_histograms

    @property
    def _fetches_histograms(self) -> bool:
        return bool(self.histogram_freq) and self.merged is not None

    def _write_histograms(self, summary: Any) -> None:
        self.writer.add_summary(summary, self._total_val_batches_seen)
        self._total_val_batches_seen += 1

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if self._is_due():
            self._write_metrics("batch_", logs, self._total_batches_seen)
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1
        self._end_profile()
        if self._total_batches_seen == self._profile_batch - 1:
            self._begin_profile()

    def _is_due(self) -> bool:
        since = self._samples_seen - self._samples_seen_at_last_write
        return self.update_freq != "epoch" and since >= self.update_freq

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write_metrics("epoch_", logs or {}, step)
        if self._fetches_histograms:
            self._stop_fetching()
        if self.embeddings_freq and self.embeddings_data is None:
            self.writer.close()
            raise ValueError("To visualize embeddings, embeddings_data must be provided.")
        if self._embeddings is not None and epoch % self.embeddings_freq == 0:
            self._embeddings.write(epoch)

    def _stop_fetching(self) -> None:
        test = getattr(self.model, "test_function", None)
        if test is not None and _has(test.fetches, self.merged):
            test.fetches[:] = [fetch for fetch in test.fetches if fetch is not self.merged]
            test.fetch_callbacks.pop(self.merged, None)

    def _write_metrics(self, prefix: str, logs: dict[str, Any], step: int) -> None:
        for name, value in logs.items():
            if name not in BOOKKEEPING:
                summary = Summary()
                summary.value.add(tag=prefix + name, simple_value=float(np.asarray(value).item()))
                self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_train_begin(self, logs: Logs = None) -> None:
        if self._profile_batch == 1:
            self._begin_profile()

    def on_train_end(self, logs: Logs = None) -> None:
        self._end_profile()
        self.writer.close()

    def _begin_profile(self) -> None:
        profile.start()
        self._is_profiling = True

    def _end_profile(self) -> None:
        if self._is_profiling:
            profile.save(self.log_dir, profile.stop())
            self._is_profiling = False

    @property
    def embeddings_path(self) -> str:
        """The path at which the values of embeddings are saved."""
        return os.path.join(self.log_dir, "keras_embedding.ckpt")


def _has(fetches: list[Any], wanted: Any) -> bool:
    return any(fetch is wanted for fetch in fetches)


def _as_image(weight: Any) -> Any:
    """A weight as a batch of grey images, or None if it has no such form."""
    picture = array.squeeze(weight)
    dims: Any = picture.shape.as_list()
    if len(dims) == 1:
        return array.reshape(picture, [1, dims[0], 1, 1])
    if len(dims) == 2:
        if dims[0] > dims[1]:  # lying down, it is easier to see
            picture, dims = array.transpose(picture), dims[::-1]
        return array.reshape(picture, [1, *dims, 1])
    if len(dims) == 3:
        if K.image_data_format() == "channels_last":
            picture, dims = array.transpose(picture, [2, 0, 1]), [dims[2], dims[0], dims[1]]
        return array.reshape(picture, [*dims, 1])
    return None
