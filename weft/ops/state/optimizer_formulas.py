"""One step of each optimizer, as a formula on arrays.

A formula takes the variable, its slots and the step's inputs by name, and returns the new variable
and slots in the same order. `training.py` declares the ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.by_library import by_library

Array = Any
State = tuple[Array, ...]


def gradient_descent(xp: Any, var: Array, alpha: Array, grad: Array) -> State:
    return (var - grad * alpha,)


def proximal_gradient_descent(
    xp: Any, var: Array, alpha: Array, l1: Array, l2: Array, grad: Array
) -> State:
    return (_proximal(xp, var, alpha, l1, l2, grad),)


def momentum(
    xp: Any, var: Array, accum: Array, lr: Array, grad: Array, momentum: Array, use_nesterov: bool
) -> State:
    accum = accum * momentum + grad
    step = grad * lr + accum * momentum * lr if use_nesterov else accum * lr
    return var - step, accum


def keras_momentum(
    xp: Any, var: Array, accum: Array, lr: Array, grad: Array, momentum: Array, use_nesterov: bool
) -> State:
    accum = accum * momentum - grad * lr
    step = accum * momentum - grad * lr if use_nesterov else accum
    return var + step, accum


def adagrad(xp: Any, var: Array, accum: Array, lr: Array, grad: Array, update_slots: bool) -> State:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / xp.sqrt(accum), accum


def adagrad_v2(
    xp: Any, var: Array, accum: Array, lr: Array, epsilon: Array, grad: Array, update_slots: bool
) -> State:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / (xp.sqrt(accum) + epsilon), accum


def adagrad_da(
    xp: Any,
    var: Array,
    gradient_accumulator: Array,
    gradient_squared_accumulator: Array,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    global_step: Array,
) -> State:
    step = global_step.astype(var.dtype)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    kept = xp.sign(total) * xp.maximum(xp.abs(total) - step * l1, 0)
    return -(lr * kept) / (l2 * (step * lr) + xp.sqrt(squares)), total, squares


def proximal_adagrad(
    xp: Any, var: Array, accum: Array, lr: Array, l1: Array, l2: Array, grad: Array
) -> State:
    accum = accum + grad * grad
    return _proximal(xp, var, lr / xp.sqrt(accum), l1, l2, grad), accum


def adadelta(
    xp: Any,
    var: Array,
    accum: Array,
    accum_update: Array,
    lr: Array,
    rho: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    accum = accum * rho + grad * grad * (1 - rho)
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


def adam(
    xp: Any,
    var: Array,
    m: Array,
    v: Array,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
    use_nesterov: bool,
) -> State:
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = _averaged(m, grad, beta1), _averaged(v, grad * grad, beta2)
    direction = grad * (1 - beta1) + beta1 * m if use_nesterov else m
    return var - direction * alpha / (xp.sqrt(v) + epsilon), m, v


def adam_with_amsgrad(
    xp: Any,
    var: Array,
    m: Array,
    v: Array,
    vhat: Array,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m, v = _averaged(m, grad, beta1), _averaged(v, grad * grad, beta2)
    vhat = xp.maximum(vhat, v)
    return var - m * alpha / (xp.sqrt(vhat) + epsilon), m, v, vhat


def ada_max(
    xp: Any,
    var: Array,
    m: Array,
    v: Array,
    beta1_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    mean, largest = _averaged(m, grad, beta1), xp.maximum(beta2 * v, xp.abs(grad))
    rate = lr / (1 - beta1_power)
    return var - rate * (mean / (largest + epsilon)), mean, largest


def rms_prop(
    xp: Any,
    var: Array,
    ms: Array,
    mom: Array,
    lr: Array,
    rho: Array,
    momentum: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    ms = _averaged(ms, grad * grad, rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rms_prop(
    xp: Any,
    var: Array,
    mg: Array,
    ms: Array,
    mom: Array,
    lr: Array,
    rho: Array,
    momentum: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    ms, mg = _averaged(ms, grad * grad, rho), _averaged(mg, grad, rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def ftrl(
    xp: Any,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
) -> State:
    return _ftrl(xp, var, accum, linear, grad, grad, lr, l1, l2, lr_power)


def ftrl_v2(
    xp: Any,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    l2_shrinkage: Array,
    lr_power: Array,
) -> State:
    shrunk = grad + 2 * l2_shrinkage * var
    return _ftrl(xp, var, accum, linear, grad, shrunk, lr, l1, l2, lr_power)


def add_sign(
    xp: Any,
    var: Array,
    m: Array,
    lr: Array,
    alpha: Array,
    sign_decay: Array,
    beta: Array,
    grad: Array,
) -> State:
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - lr * (alpha + sign_decay * agreement) * grad, m


def power_sign(
    xp: Any,
    var: Array,
    m: Array,
    lr: Array,
    logbase: Array,
    sign_decay: Array,
    beta: Array,
    grad: Array,
) -> State:
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - lr * xp.exp(logbase * sign_decay * agreement) * grad, m


def _averaged(average: Array, value: Array, decay: Array) -> Array:
    return average + (value - average) * (1 - decay)


def _proximal(xp: Any, var: Array, rate: Array, l1: Array, l2: Array, grad: Array) -> Array:
    """A gradient step, then the closest point under the l1 and l2 penalties."""
    moved = var - grad * rate
    return xp.sign(moved) * xp.maximum(xp.abs(moved) - rate * l1, 0) / (1 + l2 * rate)


def _ftrl(
    xp: Any,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    shrunk: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
) -> State:
    new_accum = accum + grad * grad
    new_scale, scale = _rate_power(xp, new_accum, lr_power), _rate_power(xp, accum, lr_power)
    linear = linear + shrunk - (new_scale - scale) / lr * var
    clipped = xp.maximum(xp.minimum(linear, l1), -l1)
    return (clipped - linear) / (new_scale / lr + 2 * l2), new_accum, linear


@by_library
def _rate_power(xp: Any, accum: Array, lr_power: Array) -> Array:
    # The usual power is -1/2; a square root is both quicker and what TensorFlow takes.
    return xp.where(lr_power == -0.5, xp.sqrt(accum), xp.power(accum, -lr_power))


@_rate_power.numpy
def _(xp: Any, accum: Array, lr_power: Array) -> Array:
    return np.sqrt(accum) if lr_power == -0.5 else np.power(accum, -lr_power)
