"""tf.train.export_meta_graph and import_meta_graph."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.saver_pb2 import SaverDef

from weft.graph.meta_graph import (  # noqa: F401  (export_meta_graph is public from here too)
    export_meta_graph,
    import_scoped_meta_graph_with_return_elements,
    read_meta_graph_file,
)
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.checkpoint.saver_saveable import all_saveable_objects


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:
    """Adds a MetaGraph to the default graph, collections included.

    Returns the saver that it holds, or a new one of all variables; None if there are none.

    Args:
        meta_graph_or_file: a `MetaGraphDef`, or the path of one, as `Saver.save` writes it.
        clear_devices: forget the devices that nodes had.
        import_scope: a name scope to put everything under.
        **kwargs: further arguments for advanced uses, such as `return_elements`.

    Returns:
        A `Saver` or None.

    Raises:
        OSError: the file cannot be read.
        RuntimeError: eager execution is on.

    Example:
        >>> v = tf.Variable(1, name="v")
        >>> session.run(v.initializer)
        >>> path = tf.train.Saver().save(session, "./model")
        >>> with tf.Graph().as_default(), tf.Session() as fresh:
        ...     tf.train.import_meta_graph(path + ".meta").restore(fresh, path)
        ...     int(fresh.run("v:0"))
        1
    """
    return _import_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, import_scope, **kwargs
    )[0]


def _import_meta_graph_with_return_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    return_elements: Any = None,
    **kwargs: Any,
) -> tuple[Saver | None, Any]:
    """As `import_meta_graph`; also returns the elements that `return_elements` names."""
    message = meta_graph_or_file
    if not hasattr(message, "graph_def"):
        message = read_meta_graph_file(message)
    variables, elements = import_scoped_meta_graph_with_return_elements(
        message,
        clear_devices=clear_devices,
        import_scope=import_scope,
        return_elements=return_elements,
        **kwargs,
    )
    return _saver_of(message, import_scope, variables), elements


def _saver_of(message: Any, import_scope: str | None, variables: dict[str, Any]) -> Saver | None:
    if message.HasField("saver_def"):
        scope = import_scope
        if variables:
            # The scope may have been made unique: a variable's name shows it.
            old, variable = next(iter(variables.items()))
            scope = variable.name[: -len(old)]
        saver_def = SaverDef()
        saver_def.CopyFrom(message.saver_def)
        return Saver(saver_def=saver_def, name=scope)
    if all_saveable_objects(import_scope):
        return Saver()
    logging.info("Saver not created because there are no variables in the graph to restore")
    return None
