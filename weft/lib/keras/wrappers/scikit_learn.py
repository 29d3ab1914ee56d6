"""Models as estimators of scikit-learn: made by a function, fitted, asked, scored."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.utils.generic import has_arg
from weft.lib.keras.utils.np_utils import to_categorical


class BaseWrapper:
    """A model that `build_fn` (or `__call__` of a subclass) makes.

    `sk_params` are arguments of that function, or of the model's `fit`, `predict` and `evaluate`.
    """

    model: Any

    def __init__(self, build_fn: Any = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def _builder(self) -> Callable[..., Any]:
        """The function that makes the model, whose arguments can be looked at."""
        made_by: Any = self if self.build_fn is None else self.build_fn
        is_plain = inspect.isfunction(made_by) or inspect.ismethod(made_by)
        return made_by if is_plain else made_by.__call__

    def check_params(self, params: Any) -> None:
        """Raises ValueError for a parameter that no function takes."""
        takers: list[Any] = [Sequential.fit, Sequential.predict, Sequential.predict_classes]
        takers += [Sequential.evaluate, self._builder()]
        for name in params:
            if name != "nb_epoch" and not any(has_arg(taker, name) for taker in takers):
                raise ValueError(f"{name} is not a legal parameter")

    def get_params(self, **params: Any) -> dict[str, Any]:
        return {**copy.deepcopy(self.sk_params), "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> Any:
        self.check_params(params)
        self.sk_params.update(params)
        return self

    def filter_sk_params(self, fn: Callable[..., Any], override: Any = None) -> dict[str, Any]:
        """The parameters that `fn` takes, and `override`."""
        taken = {name: value for name, value in self.sk_params.items() if has_arg(fn, name)}
        return {**taken, **(override or {})}

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        """Makes a model and trains it; its history."""
        build = self._builder()
        self.model = build(**self.filter_sk_params(build))
        if _is_categorical(self.model) and np.ndim(y) != 2:
            y = to_categorical(y)
        return self.model.fit(x, y, **copy.deepcopy(self.filter_sk_params(Sequential.fit)) | kwargs)


def _is_categorical(model: Any) -> bool:
    loss = model.loss
    names = (loss, getattr(loss, "__name__", None), type(loss).__name__)
    return "categorical_crossentropy" in names or "CategoricalCrossentropy" in names


class KerasClassifier(BaseWrapper):
    """A model that tells classes, which may be called anything."""

    classes_: np.ndarray
    n_classes_: int

    def fit(self, x: Any, y: Any, **kwargs: Any) -> Any:
        y = np.array(y)
        if y.ndim not in (1, 2):
            raise ValueError(f"Invalid shape for y: {y.shape}")
        is_one_hot = y.ndim == 2 and y.shape[1] > 1
        self.classes_ = np.arange(y.shape[1]) if is_one_hot else np.unique(y)
        self.n_classes_ = len(self.classes_)
        labels = y if is_one_hot else np.searchsorted(self.classes_, y)
        return super().fit(x, labels, **kwargs)

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        """The likeliest classes."""
        arguments = self.filter_sk_params(Sequential.predict_classes, kwargs)
        return self.classes_[self.model.predict_classes(x, **arguments)]

    def predict_proba(self, x: Any, **kwargs: Any) -> np.ndarray:
        """The probabilities of the classes; there are two columns even for two classes."""
        arguments = self.filter_sk_params(Sequential.predict_proba, kwargs)
        found = self.model.predict_proba(x, **arguments)
        return np.hstack([1 - found, found]) if found.shape[1] == 1 else found

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The accuracy, which the model has to be compiled with."""
        y = np.searchsorted(self.classes_, y)
        if _is_categorical(self.model) and y.ndim != 2:
            y = to_categorical(y)
        outputs = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        outputs = outputs if isinstance(outputs, list) else [outputs]
        for name, output in zip(self.model.metrics_names, outputs, strict=True):
            if name in ("accuracy", "acc"):
                return output
        raise ValueError(
            "The model is not configured to compute accuracy. You should pass "
            '`metrics=["accuracy"]` to the `model.compile()` method.'
        )


class KerasRegressor(BaseWrapper):
    """A model that tells numbers."""

    def predict(self, x: Any, **kwargs: Any) -> np.ndarray:
        arguments = self.filter_sk_params(Sequential.predict, kwargs)
        return np.squeeze(self.model.predict(x, **arguments))

    def score(self, x: Any, y: Any, **kwargs: Any) -> float:
        """The loss, negative: more is better."""
        loss = self.model.evaluate(x, y, **self.filter_sk_params(Sequential.evaluate, kwargs))
        return -(loss[0] if isinstance(loss, list) else loss)
