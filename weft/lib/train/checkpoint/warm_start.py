"""tf.train.warm_start: variables that begin with the values of an earlier model."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.core import errors
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, get_collection
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.inspection import _get_checkpoint_filename, init_from_checkpoint
from weft.lib.train.checkpoint.remap import load_and_remap_matrix_initializer
from weft.lib.train.checkpoint.saver_objects import object_graph_key_mapping
from weft.lib.train.checkpoint.saver_saveable import op_list_to_dict
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.updates import assign
from weft.ops.state.variable_store import PartitionInfo
from weft.ops.state.variables import Variable


class _VocabInfo(NamedTuple):
    new_vocab: Any
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: Any
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


class VocabInfo(_VocabInfo):
    """The vocabulary of the rows (or columns, with axis 1) of a variable, now and before.

    Entries that are new are set by `backup_initializer`, or to zero.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> VocabInfo:
        made = super().__new__(cls, *args, **kwargs)
        if made.axis not in (0, 1):
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  Provided axis: "
                f"{made.axis}"
            )
        return made


def _infer_var_name(var: Any) -> str:
    """The name of a list with one variable, or with all parts of one."""
    names = op_list_to_dict(var)
    if len(names) > 1:
        raise TypeError(
            f"`var` = {var} passed as arg violates the constraints.  name_to_var_dict = {names}"
        )
    return next(iter(names))


def _parts(var: Any) -> list[Any]:
    if isinstance(var, Variable):
        return [var]
    if isinstance(var, PartitionedVariable):
        return var._get_variable_list()
    if isinstance(var, list) and all(isinstance(each, Variable) for each in var):
        return var
    raise TypeError(
        "var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, "
        f"but is {type(var)}"
    )


def _get_var_info(var: Any, prev_tensor_name: str | None = None) -> tuple[str, Any]:
    """(the name in the checkpoint, the variable or the list of its parts)"""
    parts = _parts(var)
    name = prev_tensor_name or _infer_var_name(parts)
    return name, var if isinstance(var, Variable) else parts


def _warm_start_var_with_vocab(
    var: Any,
    current_vocab_path: Any,
    current_vocab_size: int,
    prev_ckpt: str,
    prev_vocab_path: Any,
    previous_vocab_size: int = -1,
    current_oov_buckets: int = 0,
    prev_tensor_name: str | None = None,
    initializer: Any = None,
    axis: int = 0,
) -> None:
    """Makes the initializer of `var` take over the entries that the old vocabulary has, too."""
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
            "prev_vocab_path}."
        )
    parts = _parts(var)
    rows = sum(part.shape.as_list()[0] for part in parts)
    which = "row" if axis == 0 else "col"
    for part in parts:
        shape, info = part.shape.as_list(), part._get_save_slice_info()
        load = load_and_remap_matrix_initializer(
            _get_checkpoint_filename(prev_ckpt),
            prev_tensor_name or _infer_var_name(parts),
            new_row_vocab_size=current_vocab_size if axis == 0 else rows,
            new_col_vocab_size=shape[1] if axis == 0 else current_vocab_size,
            old_row_vocab_size=previous_vocab_size if axis == 0 else -1,
            initializer=initializer,
            **{
                f"old_{which}_vocab_file": prev_vocab_path,
                f"new_{which}_vocab_file": current_vocab_path,
                f"num_{which}_oov_buckets": current_oov_buckets,
            },
        )
        where = info and PartitionInfo(full_shape=info.full_shape, var_offset=info.var_offset)
        value = convert_to_tensor(load(shape=shape, partition_info=where))
        update = assign(part, value)
        part._initializer_op = getattr(update, "op", update)


def _get_grouped_variables(vars_to_warm_start: Any) -> dict[str, list[Any]]:
    """Name -> variable, or the parts of it, in a list."""
    variables: list[Any]
    if isinstance(vars_to_warm_start, str) or vars_to_warm_start is None:
        logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        variables = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=vars_to_warm_start)
    elif not isinstance(vars_to_warm_start, list):
        raise ValueError(
            "`vars_to_warm_start must be a `list` or `str`.  Given type is "
            f"{type(vars_to_warm_start)}"
        )
    elif all(isinstance(each, str) for each in vars_to_warm_start):
        scopes = vars_to_warm_start
        variables = [v for s in scopes for v in get_collection(GraphKeys.GLOBAL_VARIABLES, scope=s)]
    elif all(isinstance(each, Variable) for each in vars_to_warm_start):
        variables = vars_to_warm_start
    else:
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given "
            f"types are {[type(each) for each in vars_to_warm_start]}"
        )
    grouped: dict[str, list[Any]] = {}
    for variable in variables:
        name = _infer_var_name(variable if isinstance(variable, list) else [variable])
        grouped.setdefault(name, []).append(variable)
    return grouped


def _get_object_checkpoint_renames(path: str, variable_names: Any) -> dict[str, str]:
    """Variable -> key, where the checkpoint is one of objects; else nothing."""
    try:
        keys = object_graph_key_mapping(_get_checkpoint_filename(path) or path)
    except errors.NotFoundError:
        return {}
    renames = {name: keys[name] for name in variable_names if name in keys}
    if missing := {*variable_names}.difference(renames):
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that the "
            "checkpoint did not contain values for all variables. The following variables were "
            f"missing: {missing}"
        )
    return renames


def warm_start(
    ckpt_to_initialize_from: str,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: dict[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: dict[str, str] | None = None,
) -> None:
    """Makes the initializers of variables load a checkpoint.

    `vars_to_warm_start` is a pattern of names of trainable variables, a list of scopes of global
    variables, a list of variables, or None for those with a vocabulary alone.
    """
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    grouped = _get_grouped_variables(vars_to_warm_start)
    vocabularies = var_name_to_vocab_info or {}
    renames = var_name_to_prev_var_name or _get_object_checkpoint_renames(
        ckpt_to_initialize_from, grouped
    )
    plain: dict[str, Any] = {}
    count = 0
    for name, variable in grouped.items():
        info, old_name = vocabularies.get(name), renames.get(name)
        if info:
            _warm_start_var_with_vocab(
                variable,
                current_vocab_path=info.new_vocab,
                current_vocab_size=info.new_vocab_size,
                prev_ckpt=ckpt_to_initialize_from,
                prev_vocab_path=info.old_vocab,
                previous_vocab_size=info.old_vocab_size,
                current_oov_buckets=info.num_oov_buckets,
                prev_tensor_name=old_name,
                initializer=info.backup_initializer,
                axis=info.axis,
            )
        elif vars_to_warm_start:
            one = variable[0] if len(variable) == 1 else variable
            old_name, one = _get_var_info(one, old_name)
            plain[old_name] = one
        else:
            continue
        count += 1
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    logging.info("Warm-started %d variables.", count)
    _check_used("var_name_to_prev_var_name", renames, grouped)
    _check_used("var_name_to_vocab_info", vocabularies, grouped)


def _check_used(argument: str, given: dict[str, Any], grouped: dict[str, Any]) -> None:
    unused = set(given) - set(grouped)
    if unused:
        raise ValueError(
            f"You provided the following variables in {argument} that were not used: {unused}.  "
            "Perhaps you misspelled them?  Here is the list of viable variable names: "
            f"{grouped.keys()}"
        )
