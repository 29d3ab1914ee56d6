"""TensorFlow's functions that took their arguments otherwise before 1.0: both orders are taken."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from typing import Any

import weft
from weft.legacy.old import notices, table


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _tell(name: str, used: str) -> None:
    notices.tell_of(f"tensorflow.{name}", "with the arguments of 0.12", used)


def concat(*args: Any, **kwargs: Any) -> Any:
    """`concat(values, axis)`; was `concat(concat_dim, values)`."""
    if "concat_dim" in kwargs or (args and _is_number(args[0])):
        _tell("concat", "tf.concat(values, axis)")
        given = dict(zip(("concat_dim", "values", "name"), args, strict=False)) | kwargs
        return weft.concat(given.pop("values"), given.pop("concat_dim"), **given)
    return weft.concat(*args, **kwargs)


def split(*args: Any, **kwargs: Any) -> Any:
    """`split(value, number, axis)`; was `split(split_dim, number, value)`."""
    if kwargs.keys() & {"split_dim", "num_split"} or (args and _is_number(args[0])):
        _tell("split", "tf.split(value, num_or_size_splits, axis)")
        names = ("split_dim", "num_split", "value", "name")
        given = dict(zip(names, args, strict=False)) | kwargs
        number, axis = given.pop("num_split"), given.pop("split_dim")
        return weft.split(given.pop("value"), number, axis, **given)
    return weft.split(*args, **kwargs)


def reverse(tensor: Any, axis: Any = None, name: str | None = None, dims: Any = None) -> Any:
    """`reverse(tensor, axes)`; was given a truth value for each dimension."""
    chosen = dims if axis is None else axis
    if isinstance(chosen, list | tuple) and chosen and all(type(each) is bool for each in chosen):
        _tell("reverse", "tf.reverse(tensor, axis)")
        chosen = [i for i, is_reversed in enumerate(chosen) if is_reversed]
    return weft.reverse(tensor, chosen, name=name)


def variable_scope(name_or_scope: Any, *args: Any, **kwargs: Any) -> Any:
    """`variable_scope`; `reuse=False` made variables in a scope that is entered again to reuse."""
    is_reusing = isinstance(name_or_scope, weft.VariableScope) and name_or_scope.reuse is True
    if is_reusing and kwargs.get("reuse") is False:
        case = "with reuse=False of a scope that reuses"
        notices.tell_of("tensorflow.variable_scope", case, "tf.AUTO_REUSE")
        kwargs["reuse"] = weft.AUTO_REUSE
    return weft.variable_scope(name_or_scope, *args, **kwargs)


def resize_images(images: Any, *args: Any, **kwargs: Any) -> Any:
    """`resize_images(images, size)`; was `resize_images(images, height, width)`."""
    first = args[0] if args else kwargs.get("new_height", kwargs.get("size"))
    if not _is_number(first):
        return weft.image.resize_images(images, *args, **kwargs)
    _tell("image.resize_images", "tf.image.resize_images(images, [height, width])")
    names = ("new_height", "new_width", "method", "align_corners")
    given = dict(zip(names, args, strict=False)) | kwargs
    size = [given.pop("new_height"), given.pop("new_width")]
    return weft.image.resize_images(images, size, **given)


def batch_matmul(
    x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, name: str | None = None
) -> Any:
    """The products of the matrices in two batches."""
    return weft.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)


def linear(
    args: Any, output_size: int, bias: bool, bias_start: float = 0.0, scope: Any = None
) -> Any:
    """The sum of the products of several matrices with weights of the scope, and a bias."""
    values = list(args) if isinstance(args, list | tuple) else [args]
    with weft.variable_scope(scope or "Linear"):
        joined = values[0] if len(values) == 1 else weft.concat(values, 1)
        matrix = weft.get_variable("Matrix", [joined.shape[1], output_size], dtype=joined.dtype)
        product = weft.matmul(joined, matrix)
        if not bias:
            return product
        start = weft.constant_initializer(bias_start, dtype=joined.dtype)
        return product + weft.get_variable("Bias", [output_size], joined.dtype, start)


def _cross_entropy(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A loss that was called with `logits, labels`, and takes names only today."""
    if "targets" in kwargs:
        kwargs["labels"] = kwargs.pop("targets")
    if args and args[0] is not None:
        _tell(f"nn.{name}", f"tf.nn.{name}(labels=..., logits=...)")
        given = dict(zip(("logits", "labels", "name"), args, strict=False))
        args, kwargs = (), given | kwargs
    return getattr(weft.nn, name)(*args, **kwargs)


def softmax_cross_entropy_with_logits(*args: Any, **kwargs: Any) -> Any:
    """Cross entropy with a distribution over classes."""
    return _cross_entropy("softmax_cross_entropy_with_logits", args, kwargs)


def sparse_softmax_cross_entropy_with_logits(*args: Any, **kwargs: Any) -> Any:
    """Cross entropy with the number of a class."""
    return _cross_entropy("sparse_softmax_cross_entropy_with_logits", args, kwargs)


def sigmoid_cross_entropy_with_logits(*args: Any, **kwargs: Any) -> Any:
    """Cross entropy with independent classes."""
    return _cross_entropy("sigmoid_cross_entropy_with_logits", args, kwargs)


def _sampled(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A loss that was called with `inputs, labels` in these places: labels are whole numbers."""
    if len(args) > 3 and weft.convert_to_tensor(args[2]).dtype.is_floating:
        _tell(f"nn.{name}", f"tf.nn.{name}(weights, biases, labels, inputs, ...)")
        args = (*args[:2], args[3], args[2], *args[4:])
    return getattr(weft.nn, name)(*args, **kwargs)


def nce_loss(*args: Any, **kwargs: Any) -> Any:
    """Noise-contrastive estimation."""
    return _sampled("nce_loss", args, kwargs)


def sampled_softmax_loss(*args: Any, **kwargs: Any) -> Any:
    """Cross entropy with some of the classes."""
    return _sampled("sampled_softmax_loss", args, kwargs)


def __getattr__(name: str) -> Any:
    """The logger, which is made when it is first needed."""
    if name == "logger":
        return weft.get_logger()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def define_flag(name: str, value: Any) -> None:
    """Defines a flag that is set: `FLAGS.vocabulary = 100`."""
    from absl import flags

    notices.tell(_FLAG)
    flags.DEFINE_flag(flags.Flag(flags.ArgumentParser(), None, name, None, "set by the program"))
    setattr(flags.FLAGS, name, value)


def flags_attribute(name: str) -> Callable[[list[str] | None], list[str]] | None:
    """What `FLAGS._parse_flags` was, called by programs that print flags; None: another name."""
    if name != "_parse_flags":
        return None
    notices.tell(_PARSE_FLAGS)
    return _parse_flags


def _parse_flags(args: list[str] | None = None) -> list[str]:
    """Parses `args`, by default the program's; gives those that are no flags."""
    from absl import flags

    arguments = sys.argv[1:] if args is None else args
    return list(flags.FLAGS([sys.argv[0], *arguments], known_only=True)[1:])


_FLAG = table.Row(
    "a flag that is not defined",
    "gone since TensorFlow 1.5",
    "a new flag",
    "name",
)
_PARSE_FLAGS = table.Row(
    "FLAGS._parse_flags",
    "gone since TensorFlow 1.5",
    "absl's parser",
    "name",
)
