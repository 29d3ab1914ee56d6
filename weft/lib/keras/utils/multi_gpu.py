"""A model that works on its batches on several devices at once."""

from __future__ import annotations

from collections import Counter
from typing import Any

from weft.graph.graph import device, name_scope
from weft.lib.keras import backend as K
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.lambda_layer import Lambda
from weft.lib.keras.layers.merge import concatenate
from weft.ops.array import array, slicing


def multi_gpu_model(
    model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False
) -> Any:
    """A model whose batches are cut into parts for `gpus`: how many, or the numbers of them.

    The weights stay one: they are where the model was made, or on the CPU with `cpu_relocation`.
    """
    numbers = _numbers(gpus)
    _check_devices(gpus, numbers)
    if cpu_relocation:
        from weft.lib.keras.models import clone_model

        with device("/cpu:0"):
            model = clone_model(model)
    parts: list[list[Any]] = [[] for _ in model.outputs]
    for i, number in enumerate(numbers):
        with device(f"/gpu:{number}"), name_scope(f"replica_{number}"):
            outputs = model([_part(x, i, len(numbers)) for x in model.inputs])
            for kept, output in zip(
                parts, outputs if isinstance(outputs, list) else [outputs], strict=True
            ):
                kept.append(output)
    with device("/cpu:0" if cpu_merge else f"/gpu:{numbers[0]}"):
        names = _distinct(model.output_names)
        merged = [concatenate(p, axis=0, name=n) for n, p in zip(names, parts, strict=True)]
        return Model(model.inputs, merged)


def _numbers(gpus: Any) -> list[int]:
    is_list = isinstance(gpus, (list, tuple))
    if (len(gpus) if is_list else gpus) <= 1:
        wanted = "len(gpus) >= 2" if is_list else "gpus >= 2"
        raise ValueError(
            f"For multi-gpu usage to be effective, call `multi_gpu_model` with `{wanted}`. "
            f"Received: `gpus={gpus}`"
        )
    return list(gpus) if is_list else list(range(gpus))


def _check_devices(gpus: Any, numbers: list[int]) -> None:
    wanted = ["/cpu:0", *(f"/gpu:{i}" for i in numbers)]
    known = [each.name for each in K.get_session().list_devices()]
    there = ["/" + name.lower().split("device:")[1] for name in known]
    if not set(wanted) <= set(there):
        raise ValueError(
            f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be "
            f"available: {wanted}. However this machine only has: {there}. Try reducing `gpus`."
        )


def _part(x: Any, i: int, parts: int) -> Any:
    shape = tuple(x.shape.as_list()[1:])
    return Lambda(get_slice, shape, arguments={"i": i, "parts": parts})(x)


def get_slice(data: Any, i: int, parts: int) -> Any:
    """Part `i` of a batch; the last one is what is left."""
    shape = array.shape(data)
    step = shape[:1] // parts
    size = shape[:1] - step * i if i == parts - 1 else step
    start = array.concat([step * i, shape[1:] * 0], axis=0)
    return slicing.slice(data, start, array.concat([size, shape[1:]], axis=0))


def _distinct(names: list[str]) -> list[str]:
    """Names that occur twice, with numbers."""
    counts, seen = Counter(names), Counter[str]()
    made = []
    for name in names:
        seen[name] += 1
        made.append(f"{name}_{seen[name]}" if counts[name] > 1 else name)
    return made
