"""Choices among several branches, as nested conds or a `Case` of functions."""

from __future__ import annotations

import functools
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import raw
from weft.ops.control.cond import cond, smart_cond
from weft.ops.control.control import Assert
from weft.ops.control.function_forms import function_form

_LOG = logging.getLogger("weft")
Function = Callable[[], Any]


def case(
    pred_fn_pairs: Any,
    default: Function | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose predicate holds, else of `default`.

    `exclusive` checks that at most one holds. Without `default` one of them must.

    Args:
        pred_fn_pairs: a list of pairs (boolean scalar, function without arguments), or a dict.
        default: a function for when none holds.
        exclusive: see above.
        strict: keep lists of one element.
        name: of the operations.

    Returns:
        A tensor, or the structure of tensors that the functions return.

    Raises:
        TypeError: the pairs are not of this form.
        tf.errors.InvalidArgumentError: from the step: none holds and there is no default.

    Example:
        >>> x = tf.constant(5)
        >>> size = tf.case([(x < 3, lambda: "small"), (x < 10, lambda: "medium")], lambda: "large")
        >>> session.run(size)
        b'medium'
    """
    build = functools.partial(cond, strict=strict)
    return _case(build, pred_fn_pairs, default, exclusive, name, allow_python_preds=False)


def smart_case(
    pred_fn_pairs: Any,
    default: Function | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """`case` that leaves out branches whose predicate is known now."""
    return _case(smart_cond, pred_fn_pairs, default, exclusive, name, allow_python_preds=True)


def _case(
    build: Callable[..., Any],
    pairs: Any,
    default: Function | None,
    exclusive: bool,
    name: str,
    allow_python_preds: bool,
) -> Any:
    predicates, actions = _checked_pairs(pairs, exclusive, name, allow_python_preds)
    with name_scope(name, "case", [predicates]):
        if default is None:
            default, predicates, actions = _last_as_default(predicates, actions)
        choose = _nested(build, zip(predicates, actions, strict=True), default)
        one = "Input error: exclusive=True"
        with control_dependencies([_assert_at_most(predicates, 1, one)] if exclusive else []):
            return choose()


def _nested(build: Callable[..., Any], pairs: Iterable[Any], default: Function) -> Function:
    """From the inside out, so that the first predicate is asked first."""
    function = default
    for predicate, action in reversed([*pairs]):
        function = functools.partial(build, predicate, true_fn=action, false_fn=function)
    return function


def _checked_pairs(
    pairs: Any, exclusive: bool, name: str, allow_python_preds: bool
) -> tuple[Sequence[Any], Sequence[Function]]:
    if not isinstance(pairs, (list, tuple, dict)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pairs, OrderedDict):
        pairs = list(pairs.items())
    elif isinstance(pairs, dict):
        pairs = sorted(pairs.items(), key=lambda item: item[0].name)
        if not exclusive:
            _LOG.warning(
                "%s: predicates given by a dictionary are tried in the order of their names."
                " Use a list if the order matters.",
                name,
            )
    for pair in pairs:
        _check_pair(*_two("pred_fn_pairs", pair), allow_python_preds)
    predicates, actions = zip(*pairs, strict=True)
    return predicates, actions


def _two(of: str, pair: Any) -> tuple[Any, Any]:
    if isinstance(pair, tuple) and len(pair) == 2:
        return pair
    raise TypeError(f"Each entry in {of} must be a 2-tuple")


def _check_pair(pred: Any, function: Any, allow_python_preds: bool) -> None:
    allowed = (Tensor, bool) if allow_python_preds else (Tensor,)
    if not isinstance(pred, allowed):
        kinds = " or ".join(kind.__name__ for kind in allowed)
        raise TypeError(f"pred must be a {kinds}, got: {pred}")
    if isinstance(pred, Tensor) and pred.dtype != dtypes.bool:
        raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
    if not callable(function):
        raise TypeError(f"fn for pred {getattr(pred, 'name', pred)} must be callable.")


def _assert_at_most(predicates: Sequence[Any], n: int, message: str) -> Operation:
    from weft.ops.array import array

    together = array.stack(list(predicates), name="preds_c")
    count = raw.Sum(
        raw.Cast(together, DstT=dtypes.int32), constant([0], dtypes.int32, name="Const"),
        name="num_true_conds",
    )  # fmt: skip
    condition = raw.LessEqual(count, constant(n, name="n_true_conds"))
    names = ", ".join(getattr(p, "name", "?") for p in predicates)
    data = [f"{message}: more than {n} conditions ({names}) evaluated as True:", together]
    return Assert(condition, data=data, summarize=len(predicates))


def _last_as_default(
    predicates: Sequence[Any], actions: Sequence[Function]
) -> tuple[Function, Sequence[Any], Sequence[Function]]:
    """The last pair becomes the default, which checks that its predicate alone holds."""
    from weft.ops.array import array

    last = len(predicates) - 1
    others = predicates[:last]

    def default() -> Any:
        wrong = (
            f"Implementation error: selected default action #{last} was called, but some of other"
            " predicates are True: "
        )
        none = (
            "Input error: None of conditions evaluated as True:",
            array.stack(list(predicates), name="preds_c"),
        )
        with control_dependencies(
            [_assert_at_most(others, 0, wrong), Assert(predicates[last], data=none)]
            if others
            else [Assert(predicates[last], data=none)]
        ):
            return actions[last]()

    return default, others, actions[:last]


# ---- by number --------------------------------------------------------------------------------


def switch_case(
    branch_index: Any, branch_fns: Any, default: Function | None = None, name: str = "switch_case"
) -> Any:
    """The result of the function numbered `branch_index`; of `default`, or else of the last one,
    when there is none of that number.
    """
    actions = _numbered_branches(branch_fns, default, branch_index)
    with name_scope(name, "case", [branch_index]):
        if get_default_graph().functional_control_flow:
            return function_form("case")(branch_index, actions)
        function = actions[-1]
        for i, action in reversed(list(enumerate(actions[:-1]))):
            same = raw.Equal(branch_index, convert_to_tensor(i, branch_index.dtype))
            function = _nested(cond, [(same, action)], function)
        return function()


def _numbered_branches(branch_fns: Any, default: Function | None, index: Any) -> list[Function]:
    if not isinstance(index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(index)}")
    if not index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, dict)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    given = [*(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)]
    numbered = enumerate(given) if all(map(callable, given)) else given
    pairs = [_check_branch(*_two("branch_fns", pair)) for pair in numbered]
    keys, actions = zip(*sorted(pairs, key=lambda pair: pair[0]), strict=True)
    if keys != (*range(len(keys)),):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found"
            f" {{{','.join(map(str, keys))}}}"
        )
    return [*actions] if default is None else [*actions, default]


def _check_branch(key: Any, function: Any) -> tuple[int, Function]:
    if not isinstance(key, int):
        raise TypeError(f"key must be a Python `int`, got {type(key)}")
    if not callable(function):
        raise TypeError(f"fn for key {key} must be callable.")
    return key, function
