"""tf.autograph: converting functions by hand, and for `tf.function`."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from weft.graph.conversion_status import (
    ControlStatusCtx,
    Status,
    control_status_ctx,
    register_converter,
)
from weft.lib.autograph.calls import convert_or_warn, converted_call, is_allowed
from weft.lib.autograph.compile import (
    converted,
    converted_source,
    is_convertible,
    is_done,
    mark_done,
)
from weft.lib.autograph.errors import raise_told
from weft.lib.autograph.source import NoSource


class AutoGraphError(Exception):
    """Base of the errors of conversions."""


class ConversionError(AutoGraphError, ValueError):
    """A function cannot be converted: its source is not there, or it is none of Python's."""


class Feature(enum.Enum):
    """Features of the conversion; two of them only on request.

    `EQUALITY_OPERATORS`: == and != of tensors compare values. `LISTS`: append, pop and item
    assignment work on `tf.TensorArray`s and lists of tensors. The others are always on.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All of them."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All but those given."""
        left_out = exclude if isinstance(exclude, (list, tuple, set)) else (exclude,)
        return tuple(each for each in cls.all() if each not in {*left_out, cls.ALL})


def features_of(asked: Any) -> frozenset[str]:
    """Features as converted code is made with: their names."""
    if asked is None:
        return frozenset()
    given = asked if isinstance(asked, (list, tuple, set, frozenset)) else (asked,)
    return frozenset(each.value for each in given)


def _inner(entity: Any) -> Any:
    """The Python function of a function, a method or a `tf.function`."""
    python_function = getattr(entity, "python_function", None)
    if python_function is not None:
        return _inner(python_function)
    return entity


def _convert(entity: Any, features: frozenset[str], strict: bool) -> Callable[..., Any]:
    if inspect.ismethod(entity):
        made = _convert(entity.__func__, features, strict)
        return types.MethodType(made, entity.__self__)
    if isinstance(entity, functools.partial):
        inner = _convert(entity.func, features, strict)
        return functools.partial(inner, *entity.args, **entity.keywords)
    if strict:
        return converted(entity, features)
    if not is_convertible(entity) or is_done(entity):
        return entity  # type: ignore[no-any-return]
    return convert_or_warn(entity, features)


def _calling(
    function: Callable[..., Any], features: frozenset[str], recursive: bool, tell: bool = True
) -> Callable[..., Any]:
    """`function`, with conversion on for what it calls, and errors told as of the user's code."""
    status = Status.ENABLED if recursive else Status.DISABLED

    def call(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(status, features):
            try:
                return function(*args, **kwargs)
            except Exception as error:
                if tell:
                    raise_told(error)
                raise

    try:
        functools.update_wrapper(call, function)
    except AttributeError:
        pass
    made: Callable[..., Any] = mark_done(call)
    return made


def _as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """An object that can be called as its `__call__`; all else as it is."""
    call = getattr(type(function), "__call__", None)  # noqa: B004
    if is_convertible(_innermost(function)) or not inspect.isfunction(call):
        return function
    return types.MethodType(call, function)


def _innermost(function: Any) -> Any:
    """The function of a method, of a function with some arguments given, or of both."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__func__", function)


def convert_for_function(function: Callable[..., Any], options: Any) -> Callable[..., Any]:
    """The function that a `tf.function` traces in the place of its Python function."""
    if getattr(function, "ag_do_not_convert", False):
        return function
    features = features_of(options)
    return _calling(_convert(_as_method(function), features, False), features, True)


def tf_convert(
    function: Any, ctx: ControlStatusCtx, convert_by_default: bool = True,
    user_requested: bool = False,
) -> Any:  # fmt: skip
    """`function` as it is to be called where `ctx` holds, by functions that take functions."""
    if is_done(function):
        return function
    if ctx.status is Status.DISABLED:
        return do_not_convert(function)
    if ctx.status is Status.UNSPECIFIED and not convert_by_default:
        return function
    method = _as_method(function)
    target = _innermost(method)
    if not is_convertible(target) or (is_allowed(target) and not user_requested):
        return function
    return _calling(_convert(method, ctx.features, False), ctx.features, True)


register_converter(tf_convert)


# ---- public -------------------------------------------------------------------------------------


def to_graph(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Any = None,
) -> Any:
    """A function like `entity` whose control flow becomes nodes where it depends on tensors.

    Of a method it is the function, which takes the object first. Of a class it is a class like it
    with converted methods.
    """
    function, features = _inner(entity), features_of(experimental_optional_features)
    try:
        if inspect.isclass(function):
            return _converted_class(function, features, recursive)
        made = _convert(getattr(function, "__func__", function), features, True)
    except NoSource as error:
        raise ConversionError(f"converting {entity}: ValueError: {error}") from None
    # Who converts by hand gets errors as they are.
    return _calling(made, features, recursive, tell=False)


def _converted_class(kind: type, features: frozenset[str], recursive: bool) -> type:
    methods = {name: each for name, each in vars(kind).items() if is_convertible(each)}
    if not methods:
        raise NoSource(f"cannot convert {kind}: no member methods")
    made = {
        name: _calling(_convert(each, features, True), features, recursive, tell=False)
        for name, each in methods.items()
    }
    return type(kind)(f"Tf{kind.__name__}", (kind,), {"__doc__": kind.__doc__, **made})


def to_code(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Any = None,
) -> str:
    """The source of the function that `to_graph` makes."""
    function = _inner(entity)
    function = getattr(function, "__func__", function)
    try:
        text = converted_source(function, features_of(experimental_optional_features))
    except (NoSource, AttributeError) as error:
        raise ConversionError(f"converting {entity}: ValueError: {error}") from None
    lines = text.splitlines()
    depth = [(len(line) - len(line.lstrip())) // 4 for line in lines]
    return "".join(
        f"{indentation * n}{line.lstrip()}\n" for n, line in zip(depth, lines, strict=True)
    )


def do_not_convert(func: Any = None) -> Any:
    """A decorator: the function and what it calls are left to Python."""
    if func is None:
        return do_not_convert

    def call(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(Status.DISABLED):
            return func(*args, **kwargs)

    if inspect.isfunction(func) or inspect.ismethod(func):
        functools.update_wrapper(call, func)
    vars(call)["ag_do_not_convert"] = True
    return call


def convert(
    recursive: bool = False, optional_features: Any = None, user_requested: bool = True
) -> Callable[[Any], Any]:
    """A decorator: the function is converted when it is first called."""

    def decorate(function: Any) -> Any:
        made: list[Any] = []

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not made:
                by_hand = to_graph(function, recursive, None, None, optional_features)
                made.append(_calling(by_hand, features_of(optional_features), recursive))
            return made[0](*args, **kwargs)

        return mark_done(call)

    return decorate


_NOT_GIVEN = object()


def set_loop_options(
    parallel_iterations: Any = _NOT_GIVEN,
    back_prop: Any = _NOT_GIVEN,
    swap_memory: Any = _NOT_GIVEN,
    maximum_iterations: Any = _NOT_GIVEN,
    shape_invariants: Any = _NOT_GIVEN,
) -> None:
    """As the first statement of a loop: what `tf.while_loop` is given for it.

    Conversion takes it out; elsewhere it means nothing.
    """


__all__ = [
    "Feature", "control_status_ctx", "convert", "convert_for_function", "converted_call",
    "do_not_convert", "set_loop_options", "tf_convert", "to_code", "to_graph",
]  # fmt: skip
