"""Optimizers outside the graph, such as SciPy's: they ask for losses and gradients."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from weft.autodiff.gradients import gradients
from weft.graph.stacks import get_default_session
from weft.lib.platform import tf_logging
from weft.ops.array import array
from weft.ops.state.variables import trainable_variables


def _dims(var: Any) -> tuple[int, ...]:
    return tuple(var.shape.as_list())


class ExternalOptimizerInterface:
    """Variables as one long vector, for a `_minimize` that a subclass gives."""

    def __init__(
        self,
        loss: Any,
        var_list: Any = None,
        equalities: Any = None,
        inequalities: Any = None,
        var_to_bounds: Any = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities, self._inequalities = equalities or [], inequalities or []
        self._vars = trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = self._pack_bounds(var_to_bounds)
        fed = [array.placeholder(variable.dtype.base_dtype) for variable in self._vars]
        self._update_placeholders = fed
        self._var_updates = [
            variable.assign(array.reshape(value, _dims(variable)))
            for variable, value in zip(self._vars, fed, strict=True)
        ]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        groups = [loss], self._equalities, self._inequalities
        found = [[*map(self._packed_gradient, group)] for group in groups]
        (self._packed_loss_grad,), *constraints = found
        self._packed_equality_grads, self._packed_inequality_grads = constraints
        ends = accumulate((int(np.prod(_dims(v))) for v in self._vars), initial=0)
        self._packing_slices = [slice(start, end) for start, end in pairwise(ends)]

    def _pack_bounds(self, var_to_bounds: Any) -> list[tuple[float, float]] | None:
        if var_to_bounds is None:
            return None
        packed: list[tuple[float, float]] = []
        for var in self._vars:
            low, high = next((b for v, b in var_to_bounds.items() if v is var), (-np.inf, np.inf))
            lows, highs = (np.broadcast_to(x, _dims(var)).flat for x in (low, high))
            packed += list(zip(lows, highs, strict=True))
        return packed

    def _packed_gradient(self, tensor: Any) -> Any:
        found = gradients(tensor, self._vars)
        return self._pack(
            [
                array.zeros_like(var) if grad is None else grad
                for var, grad in zip(self._vars, found, strict=True)
            ]
        )

    @classmethod
    def _pack(cls, tensors: Any) -> Any:
        if not tensors:
            return None
        flat = [array.reshape(tensor, [-1]) for tensor in tensors]
        return flat[0] if len(flat) == 1 else array.concat(flat, 0)

    def minimize(
        self,
        session: Any = None,
        feed_dict: Any = None,
        fetches: Any = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Runs the optimizer to its end, then sets the variables to what it found."""
        session = session or get_default_session()
        feeds, fetches = feed_dict or {}, fetches or []

        def evaluate(tensors: Any, callback: Any = None) -> Callable[[np.ndarray], Any]:
            return self._evaluation(tensors, session, feeds, fetches, callback)

        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=evaluate([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=[evaluate(t) for t in self._equalities],
            equality_grad_funcs=[evaluate(t) for t in self._packed_equality_grads],
            inequality_funcs=[evaluate(t) for t in self._inequalities],
            inequality_grad_funcs=[evaluate(t) for t in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda xk: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [found[part] for part in self._packing_slices]
        feed = dict(zip(self._update_placeholders, values, strict=True))
        session.run(self._var_updates, feed_dict=feed, **run_kwargs)

    def _evaluation(
        self, tensors: Any, session: Any, feeds: Any, fetches: Any, callback: Any
    ) -> Callable[[np.ndarray], Any]:
        """A function of the packed variables that gives the values of `tensors`."""
        single = not isinstance(tensors, list)
        wanted = [tensors] if single else tensors

        def evaluate(x: np.ndarray) -> Any:
            parts = {
                var: x[part].reshape(_dims(var))
                for var, part in zip(self._vars, self._packing_slices, strict=True)
            }
            values = session.run([*wanted, *fetches], feed_dict={**parts, **feeds})
            if callback is not None:
                callback(*values[len(wanted) :])
            return values[0] if single else values[: len(wanted)]

        return evaluate

    def _minimize(self, **kwargs: Any) -> Any:
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
            "method."
        )


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """`scipy.optimize.minimize`, with its arguments but those that are set here."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(  # type: ignore[override]
        self,
        *,
        initial_val: np.ndarray,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: dict[str, Any],
    ) -> np.ndarray:
        import scipy.optimize

        # SciPy's routines take double precision only.
        def loss_and_gradient(x: np.ndarray) -> tuple[float, np.ndarray]:
            loss, gradient = loss_grad_func(x)
            return float(loss), gradient.astype(np.float64)

        def double(function: Any) -> Callable[[np.ndarray], np.ndarray]:
            return lambda x: np.asarray(function(x), np.float64)

        given = dict(optimizer_kwargs)
        settings = {
            "jac": True,
            "callback": step_callback,
            "method": given.pop("method", self._DEFAULT_METHOD),
            "constraints": [
                {"type": kind, "fun": double(fun), "jac": double(jac)}
                for kind, functions, slopes in (
                    ("eq", equality_funcs, equality_grad_funcs),
                    ("ineq", inequality_funcs, inequality_grad_funcs),
                )
                for fun, jac in zip(functions, slopes, strict=True)
            ],
            "bounds": packed_bounds,
        }
        for name in given:
            if name == "bounds":
                raise ValueError("Bounds must be set using the var_to_bounds argument")
            if name in settings:
                raise ValueError(
                    f"Optimizer keyword arg '{name}' is set automatically and cannot be injected "
                    "manually"
                )
        start = initial_val.astype(np.float64)
        result = scipy.optimize.minimize(loss_and_gradient, start, **settings, **given)
        tf_logging.info(
            f"Optimization terminated with:\n  Message: {result.message}\n"
            f"  Objective function value: {result.fun}"
        )
        return result["x"]
