"""Exporters: what happens to a model after it was evaluated by `train_and_evaluate`."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable
from typing import Any

from weft.core import errors
from weft.lib.estimator.eval_results import simple_values
from weft.lib.estimator.functions import fn_args
from weft.lib.estimator.spec import LOSS_METRIC_KEY
from weft.lib.platform import tf_logging as logging
from weft.storage import file_io
from weft.storage.events import summary_iterator


class Exporter(metaclass=abc.ABCMeta):
    """Told of every evaluation; may export the model."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The folder under `export/` of the model's folder that it writes to."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint, if it should; the folder, or None."""


class _SavedModelExporter(Exporter):
    """Writes a SavedModel after each evaluation that `_wants` one, and keeps the latest few."""

    _exports_to_keep: int | None = None

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        self._name, self._serving_input_receiver_fn = name, serving_input_receiver_fn
        self._assets_extra, self._as_text = assets_extra, as_text

    @property
    def name(self) -> str:
        return self._name

    def _wants(self, estimator: Any, eval_result: dict[str, Any], final: bool) -> bool:
        return True

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        if not self._wants(estimator, eval_result, is_the_final_export):
            return None
        folder = estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        delete_old_exports(export_path, self._exports_to_keep)
        return folder


def delete_old_exports(export_dir_base: str, keep: int | None) -> None:
    """Deletes all but the `keep` latest folders that are named after a time."""
    if keep is None:
        return
    names = [name.rstrip("/") for name in file_io.listdir(export_dir_base)]
    versions = sorted(name for name in names if len(name) == 10 and name.isdigit())
    for name in versions[:-keep]:
        path = os.path.join(export_dir_base, name)
        try:
            file_io.rmtree(path)
        except errors.NotFoundError as error:
            logging.warning("Can not delete %s recursively: %s", path, error)


class FinalExporter(_SavedModelExporter):
    """Exports once, at the end of training."""

    def _wants(self, estimator: Any, eval_result: dict[str, Any], final: bool) -> bool:
        if final:
            logging.info("Performing the final export in the end of training.")
        return final


class LatestExporter(_SavedModelExporter):
    """Exports every time, and keeps the latest few."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be positive number")
        self._exports_to_keep = exports_to_keep


# ---- the best one --------------------------------------------------------------------------------


def _loss_smaller(best_eval_result: dict[str, Any], current_eval_result: dict[str, Any]) -> bool:
    for name, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or LOSS_METRIC_KEY not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return best_eval_result[LOSS_METRIC_KEY] > current_eval_result[LOSS_METRIC_KEY]


def _verify_compare_fn_args(compare_fn: Callable[..., bool]) -> None:
    wanted, names = ("best_eval_result", "current_eval_result"), set(fn_args(compare_fn))
    for name in wanted:
        if name not in names:
            raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    unknown = list(names - set(wanted))
    if unknown:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {unknown}")


class BestExporter(_SavedModelExporter):
    """Exports a model that did better than all before it, also those of earlier runs."""

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Any = _loss_smaller,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        _verify_compare_fn_args(compare_fn)
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._compare_fn, self._exports_to_keep = compare_fn, exports_to_keep
        self._event_file_pattern = event_file_pattern
        self._model_dir: str | None = None
        self._best_eval_result: dict[str, Any] | None = None

    def _wants(self, estimator: Any, eval_result: dict[str, Any], final: bool) -> bool:
        self._look_back(estimator.model_dir)
        best = self._best_eval_result
        if best is None or self._compare_fn(best_eval_result=best, current_eval_result=eval_result):
            logging.info("Performing best model export.")
            self._best_eval_result = eval_result
            return True
        return False

    def _look_back(self, model_dir: str) -> None:
        """Takes the best result that is known of a folder it has not seen yet."""
        if self._model_dir != model_dir and self._event_file_pattern:
            logging.info("Loading best metric from event files.")
            self._model_dir = model_dir
            self._best_eval_result = self._best_of(
                os.path.join(model_dir, self._event_file_pattern)
            )

    def _best_of(self, event_files: str) -> dict[str, Any] | None:
        """The best result that earlier evaluations wrote."""
        best = None
        for path in file_io.glob(event_files):
            for event in summary_iterator(path):
                found = simple_values(event)
                if found and (best is None or self._compare_fn(best, found)):
                    best = found
        return best
