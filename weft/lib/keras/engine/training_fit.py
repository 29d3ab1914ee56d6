"""fit, evaluate and predict: data of any kind, made into a source of batches for the loop."""

from __future__ import annotations

import functools
from typing import Any

from weft.core import nest
from weft.lib.keras.backend.symbolic import runs_eagerly
from weft.lib.keras.engine import training_data as data
from weft.lib.keras.engine import training_datasets as datasets
from weft.lib.keras.engine import training_generators
from weft.lib.keras.engine.network_checks import static_batch_size
from weft.lib.keras.engine.training_functions import feeds_learning_phase
from weft.lib.keras.engine.training_inputs import check_steps
from weft.lib.keras.engine.training_loop import PREDICT, TEST, TRAIN, Loop, Validation
from weft.lib.keras.engine.training_sources import ArraySource, TensorSource
from weft.lib.keras.utils.data_utils import is_generator_or_sequence
from weft.lib.keras.utils.io_utils import say
from weft.lib.platform import tf_logging as logging


class TrainingFit(training_generators.TrainingGenerators):
    """Needs what the rest of `Model` has."""

    def fit(
        self: Any,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Trains for `epochs`; returns the History of losses and metrics.

        `x` is an array, a list or dictionary of them, tensors, a dataset, a generator or a
        Sequence; the latter three give targets and weights themselves.
        """
        epochs = _renamed_epochs(epochs, kwargs)
        self._assert_compile_was_called()
        self._check_call_args("fit")
        datasets.refuse_iterators(x)
        batch_size = self._validate_or_infer_batch_size(batch_size, steps_per_epoch, x)
        if is_generator_or_sequence(x):
            training_generators.check_alone(y, sample_weight, validation_split)
            return self.fit_generator(
                x, steps_per_epoch, epochs, verbose, callbacks, validation_data, validation_steps,
                validation_freq, class_weight, max_queue_size, workers, use_multiprocessing,
                shuffle, initial_epoch,
            )  # fmt: skip
        found = self._standardize_user_data(
            x, y, sample_weight, class_weight, batch_size, "steps_per_epoch", steps_per_epoch,
            validation_split,
        )  # fmt: skip
        if shuffle and datasets.is_dataset(x):
            datasets.warn_of_order(x)
        if validation_data:
            held = self._standard_validation(validation_data, batch_size, validation_steps)
        else:
            found, held = _held_back(found, validation_split, validation_steps)
        source = self._source(TRAIN, found, batch_size, steps_per_epoch, shuffle)
        validation = None
        if held is not None:
            validation = self._validation_in_fit(
                held, batch_size, validation_steps, validation_freq
            )
        if verbose:
            _print_amounts(source, validation)
        return Loop(
            self, source, TRAIN, callbacks, verbose, epochs, initial_epoch, batch_size, validation,
            "steps_per_epoch",
        ).run()  # fmt: skip

    def evaluate(
        self: Any,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The loss, or a list with it and the metrics (`metrics_names`), over all samples."""
        self._assert_compile_was_called()
        self._check_call_args("evaluate")
        datasets.refuse_iterators(x)
        batch_size = self._validate_or_infer_batch_size(batch_size, steps, x)
        if is_generator_or_sequence(x):
            training_generators.check_alone(y, sample_weight)
            return self.evaluate_generator(
                x, steps, callbacks, max_queue_size, workers, use_multiprocessing, verbose
            )
        found = self._standardize_user_data(x, y, sample_weight, None, batch_size, "steps", steps)
        source = self._source(TEST, found, batch_size, steps)
        return Loop(self, source, TEST, callbacks, verbose, batch_size=batch_size).run()

    def predict(
        self: Any,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for all samples."""
        self._check_call_args("predict")
        datasets.refuse_iterators(x)
        batch_size = self._validate_or_infer_batch_size(batch_size, steps, x)
        if is_generator_or_sequence(x):
            return self.predict_generator(
                x, steps, callbacks, max_queue_size, workers, use_multiprocessing, verbose
            )
        found = self._standardize_user_data(
            x, check_steps_name="steps", steps=steps, batch_size=batch_size
        )
        source = self._source(PREDICT, found, batch_size, steps)
        return Loop(self, source, PREDICT, callbacks, verbose, batch_size=batch_size).run()

    # ---- from standard data to a source ----

    def _source(
        self: Any,
        mode: str,
        found: Any,
        batch_size: int | None,
        steps: int | None,
        shuffle: Any = False,
        is_validation: bool = False,
    ) -> Any:
        x, y, weights = found
        restart = None
        of_dataset = datasets.is_dataset(x)
        if of_dataset:
            # A training that does not use up its data in an epoch goes on with them in the next.
            restarts, given = steps is None or is_validation, steps
            if steps is None:
                name = "steps_per_epoch" if mode == TRAIN else "steps"
                steps = datasets.steps_of(x, "validation_" * is_validation + name)
            if runs_eagerly():
                run = functools.partial(self._batch_in_eager, mode)
                return datasets.EagerBatches(x, run, given, restarts, weighted=mode == TRAIN)
            iterator, start = datasets.started_iterator(x)
            restart = start if restarts else None
            x, y, weights = self._standardize_user_data(iterator)
        feeds = nest.flatten(x)
        if mode != PREDICT:
            self._warn_of_missing_targets(y)
            feeds = [*feeds, *(y or []), *(weights or [])]
            self._update_sample_weight_modes(weights)
        function = self._make_execution_function(mode)
        phase = [True] if mode == TRAIN and feeds_learning_phase() else []
        if runs_eagerly():
            return _arrays_in_eager(function, feeds, phase, batch_size, steps, shuffle)
        if of_dataset or steps is not None:
            return TensorSource(function, feeds + phase, steps, restart, of_dataset)
        check_steps(feeds, steps, "steps_per_epoch")
        return ArraySource(
            function, feeds + phase, 32 if batch_size is None else batch_size, shuffle
        )

    def _batch_in_eager(self: Any, mode: str, x: Any, y: Any, weights: Any) -> Any:
        x, y, weights = self._standardize_user_data(x, y, weights)
        feeds = nest.flatten(x)
        if mode != PREDICT:
            feeds = [*feeds, *(y or []), *(weights or [])]
            self._update_sample_weight_modes(weights)
        phase = [True] if mode == TRAIN and feeds_learning_phase() else []
        return self._make_execution_function(mode)(feeds + phase)

    def _warn_of_missing_targets(self: Any, y: Any) -> None:
        """As TensorFlow, a training that gets no targets takes the learning phase for them."""
        if len(y or ()) != len(self._feed_targets):
            logging.warning(
                f"The model has the targets {self._feed_output_names}, but no data were passed for "
                "them."
            )

    def _standard_validation(
        self: Any, given: Any, batch_size: int | None, steps: int | None
    ) -> tuple[Any, Any, Any]:
        if datasets.is_dataset(given) or datasets.is_iterator(given):
            parts = (given, None, None)
        elif len(given) in (2, 3):
            parts = (*given, None)[:3]
        else:
            raise ValueError(
                "When passing a `validation_data` argument, it must contain either 2 items (x_val, "
                "y_val), or 3 items (x_val, y_val, val_sample_weights), or alternatively it could "
                "be a dataset or a dataset or a dataset iterator. However we received "
                f"`validation_data={given}`"
            )
        x, y, weights = parts
        return self._standardize_user_data(
            x, y, weights, None, batch_size, "validation_steps", steps
        )

    def _validation_in_fit(
        self: Any, held: Any, batch_size: int | None, steps: int | None, freq: Any
    ) -> Validation:
        source: list[Any] = []
        if datasets.is_dataset(held[0]):
            source.append(self._source(TEST, held, None, steps, is_validation=True))
            total = source[0].steps
        else:
            first = nest.flatten(held[0])
            total = first[0].shape[0] if first else None

        def run(callbacks: Any) -> Any:
            # Made only now: weights of samples may have changed what is to be fed.
            if not source:
                # In a graph it is in a new order each time, whatever training is.
                shuffle = not runs_eagerly()
                source.append(self._source(TEST, held, batch_size, steps, shuffle))
            results = Loop(
                self, source[0], TEST, callbacks, 0, batch_size=batch_size,
                steps_name="validation_steps",
            ).run()  # fmt: skip
            source[0].restart()
            return results

        return Validation(run, freq, total)

    def _validate_or_infer_batch_size(
        self: Any, batch_size: int | None, steps: int | None, x: Any
    ) -> int | None:
        if datasets.is_dataset(x) or is_generator_or_sequence(x):
            if batch_size is not None:
                raise ValueError(
                    "The `batch_size` argument must not be specified for the given input type. "
                    f"Received input: {x}, batch_size: {batch_size}"
                )
            return None
        fixed = static_batch_size(self._layers[0]) if self._layers else None
        if fixed is not None:
            if batch_size not in (None, fixed):
                raise ValueError(
                    f"The `batch_size` argument value {batch_size} is incompatible with the "
                    f"specified batch size of your Input Layer: {fixed}"
                )
            if steps is None:
                return fixed
        return 32 if batch_size is None and steps is None else batch_size


def _renamed_epochs(epochs: int, options: dict[str, Any]) -> int:
    """The number of epochs, which an older option `nb_epoch` may give; there are no others."""
    if "nb_epoch" in options:
        logging.warning("The `nb_epoch` argument in `fit` has been renamed `epochs`.")
        epochs = options.pop("nb_epoch")
    if options:
        raise TypeError("Unrecognized keyword arguments: " + str(options))
    return epochs


def _held_back(found: Any, fraction: float, steps: int | None) -> tuple[Any, Any]:
    """(data to train on, data to validate on or None)"""
    if fraction and 0.0 < fraction < 1.0:
        return data.split(found, fraction)
    if steps:
        raise ValueError("`validation_steps` should not be specified if `validation_data` is None.")
    return found, None


def _arrays_in_eager(
    function: Any,
    feeds: list[Any],
    phase: list[Any],
    batch_size: int | None,
    steps: int | None,
    shuffle: Any,
) -> ArraySource:
    """The source of arrays or tensors in eager execution, which `steps` cut into equal batches."""
    samples = int(feeds[0].shape[0])
    if steps is not None:
        size = -(-samples // steps)
    else:
        size = 32 if batch_size is None else batch_size
    source = ArraySource(function, feeds + phase, size, shuffle)
    source.steps = -(-samples // size)
    return source


def _print_amounts(source: Any, validation: Validation | None) -> None:
    if getattr(source, "is_dataset", False) and runs_eagerly():
        if source.total is not None:
            message = f"Train for {source.total} steps"
            if validation is not None and validation.total:
                message += f", validate for {validation.total} steps"
            say(message)
        return
    unit = "steps" if getattr(source, "is_dataset", False) else "samples"
    message = f"Train on {source.total} {unit}"
    if validation is not None and validation.total:
        message += f", validate on {validation.total} {unit}"
    say(message)
