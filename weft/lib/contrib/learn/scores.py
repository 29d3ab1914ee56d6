"""The few functions of scikit-learn that tf.contrib.learn brings along."""

from __future__ import annotations

from typing import Any

import numpy as np

NOT_FITTED = (
    "This %(name)s instance is not fitted yet. Call 'fit' with appropriate arguments before using"
    " this method."
)


class NotFittedError(ValueError, AttributeError):
    """Raised where an estimator is used before it was trained."""


def accuracy_score(y_true: Any, y_pred: Any) -> Any:
    """The part of the predictions that are right."""
    return np.average(np.asarray(y_true) == np.asarray(y_pred))


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """The mean of squared differences."""
    both = [np.squeeze(values) if np.ndim(values) > 1 else values for values in (y_true, y_pred)]
    return np.average(np.subtract(*both) ** 2)


def train_test_split(*args: Any, **options: Any) -> tuple[Any, ...]:
    """Arrays shuffled alike and cut in two; `test_size`, `train_size` and `random_state`.

    Without sizes, a quarter is for tests.
    """
    test, train = options.pop("test_size", None), options.pop("train_size", None)
    random = np.random.RandomState(options.pop("random_state", None))
    if train is None:
        train = 0.75 if test is None else 1 - test
    cut = int(train * args[0].shape[0])
    order = random.permutation(args[0].shape[0])
    parts = ([array.take(order[:cut], 0), array.take(order[cut:], 0)] for array in args)
    return tuple(part for pair in parts for part in pair)
