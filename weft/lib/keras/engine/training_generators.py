"""The same as fit, evaluate and predict, on batches that a generator or a Sequence makes."""

from __future__ import annotations

import functools
from typing import Any

from weft.lib.keras.engine.training_datasets import is_dataset
from weft.lib.keras.engine.training_loop import PREDICT, TEST, TRAIN, Loop, Validation
from weft.lib.keras.engine.training_sources import ArrayBatches, GeneratorSource
from weft.lib.keras.utils.data_utils import Sequence, is_generator_or_sequence
from weft.lib.platform import tf_logging as logging


class TrainingGenerators:
    """Needs what the rest of `Model` has."""

    def fit_generator(
        self: Any,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Any:
        """As `fit`, on batches that a generator or a Sequence makes."""
        self._check_call_args("fit_generator")
        if is_dataset(generator):
            return self.fit(
                generator, epochs=epochs, verbose=verbose, callbacks=callbacks,
                validation_data=validation_data, shuffle=shuffle, class_weight=class_weight,
                initial_epoch=initial_epoch, steps_per_epoch=steps_per_epoch,
                validation_steps=validation_steps, validation_freq=validation_freq,
            )  # fmt: skip
        queue = _queue(max_queue_size, workers, use_multiprocessing)
        _warn_of_copies(generator, queue)
        _check_validation_steps(validation_data, validation_steps)
        step = functools.partial(
            self.train_on_batch, class_weight=class_weight, reset_metrics=False
        )
        source = _generator_source(step, generator, steps_per_epoch, TRAIN, shuffle, queue)
        validation = None
        if validation_data is not None:
            run = functools.partial(
                self._validate_generator, validation_data, validation_steps, verbose, queue, source
            )
            validation = Validation(run, validation_freq)
        return Loop(
            self, source, TRAIN, callbacks, verbose, epochs, initial_epoch, None, validation,
            "steps_per_epoch",
        ).run()  # fmt: skip

    def _validate_generator(
        self: Any,
        given: Any,
        steps: int | None,
        verbose: int,
        queue: Any,
        training: GeneratorSource,
        callbacks: Any,
    ) -> Any:
        if is_dataset(given):
            source: Any = self._source(TEST, (given, None, None), None, steps, is_validation=True)
            return Loop(self, source, TEST, callbacks, 0, steps_name="validation_steps").run()
        if not is_generator_or_sequence(given):
            # Arrays are cut like the batches they are to be compared with.
            given, steps = ArrayBatches(given, training.last_size), None
        step = functools.partial(self.test_on_batch, reset_metrics=False)
        source = _generator_source(step, given, steps, TEST, False, queue)
        return Loop(self, source, TEST, callbacks, verbose, steps_name="validation_steps").run()

    def evaluate_generator(
        self: Any,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """As `evaluate`, on batches that a generator or a Sequence makes."""
        self._check_call_args("evaluate_generator")
        if is_dataset(generator):
            return self.evaluate(generator, verbose=verbose, steps=steps, callbacks=callbacks)
        queue = _queue(max_queue_size, workers, use_multiprocessing)
        step = functools.partial(self.test_on_batch, reset_metrics=False)
        source = _generator_source(step, generator, steps, TEST, False, queue)
        return Loop(self, source, TEST, callbacks, verbose).run()

    def predict_generator(
        self: Any,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """As `predict`, on batches that a generator or a Sequence makes."""
        if is_dataset(generator):
            return self.predict(generator, verbose=verbose, steps=steps, callbacks=callbacks)
        queue = _queue(max_queue_size, workers, use_multiprocessing)

        def step(x: Any, *_: Any) -> Any:
            return self._predict_batch(x)

        source = _generator_source(step, generator, steps, PREDICT, False, queue)
        return Loop(self, source, PREDICT, callbacks, verbose).run()


def _queue(max_queue_size: int, workers: int, use_multiprocessing: bool) -> dict[str, Any]:
    return {
        "max_queue_size": max_queue_size,
        "workers": workers,
        "use_multiprocessing": use_multiprocessing,
    }


def _generator_source(
    step: Any, given: Any, steps: int | None, mode: str, shuffle: bool, queue: dict[str, Any]
) -> GeneratorSource:
    if not hasattr(given, "__next__") and not isinstance(given, Sequence):
        raise ValueError(
            "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument. "
            "Please use `batch_size` instead."
        )
    if steps is None and isinstance(given, Sequence):
        steps = len(given)
    if steps is None:
        name = "steps_per_epoch" if mode == TRAIN else "steps"
        raise ValueError(f"Please specify the number of steps via the `{name}` argument.")
    return GeneratorSource(step, given, steps, shuffle, **queue)


def _warn_of_copies(given: Any, queue: dict[str, Any]) -> None:
    several = queue["use_multiprocessing"] and queue["workers"] > 1
    if several and not isinstance(given, Sequence):
        logging.warning(
            "Using a generator with `use_multiprocessing=True` and multiple workers may duplicate "
            "your data. Please consider using the `keras.utils.Sequence` class."
        )


def _check_validation_steps(given: Any, steps: int | None) -> None:
    generated = is_generator_or_sequence(given) and not isinstance(given, Sequence)
    if generated and not steps:
        raise ValueError("Please specify the `validation_steps` argument.")


def check_alone(y: Any, sample_weight: Any, validation_split: Any = None) -> None:
    if y is not None:
        raise ValueError(
            "`y` argument is not supported when data isa generator or Sequence instance. Instead "
            "pass targets as the second element of the generator."
        )
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when data isa generator or Sequence "
            "instance. Instead pass sample weights as the third element of the generator."
        )
    if validation_split:
        raise ValueError(
            "If your data is in the form of a Python generator, you cannot use `validation_split`."
        )
