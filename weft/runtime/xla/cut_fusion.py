"""Values that XLA should compute once, where it would compute them again for each of their uses.

On the CPU, XLA puts cheap operations that several others use into each of the kernels of those.
In a chain of which every link is used twice, as gradients through time make, each kernel then holds
all links before it: code, the time to compile it and the time to run it grow with the square of the
length. Here such chains are cut: now and then, a value goes through a call that is not inlined.

It also gives a reduction, with all that is computed for it element by element, to a library that
goes through the elements once for each operation. That library is quick at reducing and slow at
long chains, which XLA makes one loop of, and at products that go into a reduction: what goes before
a large one is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from weft.ops.kit.apart import PREFIX

# How many operations may be done again for each use of what they make.
MOST_AGAIN = 16
# A body of fewer operations has no chain worth cutting.
_SHORT = 100

# What has a kernel of its own.
APART = frozenset(
    "dot dot_general convolution reduce reduce_window scatter select_and_scatter sort fft while if"
    " case custom_call dynamic_update_slice rng rng_bit_generator cholesky triangular_solve return"
    " batch_norm_inference batch_norm_training batch_norm_grad optimization_barrier".split()
)
# What XLA does not do twice.
_DEAR = frozenset(
    "divide remainder exponential exponential_minus_one log log_plus_one logistic tanh power sqrt"
    " rsqrt cbrt sine cosine tan atan2".split()
)

# Elements from which on it matters how a reduction is computed, and operations before one that the
# library takes less time for than it takes to store what they make.
_LARGE, _FEW = 2**16, 4
_PRODUCTS = frozenset(("dot", "dot_general"))
# Integers that the library turns into floats one by one.
_NARROW = frozenset("i8 ui8 i16 ui16".split())
# What only says where elements are.
_PLACES = frozenset("constant broadcast_in_dim reshape iota return".split())

_HOW = "mhlo.frontend_attributes"

# "apart", "dear", "cheap" or "free", and which operations make its operands.
Step = tuple[str, Sequence[int]]


def cuts(steps: Sequence[Step]) -> list[int]:
    """Which of the steps, given in order, should be computed once for all that use them."""
    users: list[list[int]] = [[] for _ in steps]
    for i, (_, sources) in enumerate(steps):
        for source in set(sources):
            users[source].append(i)
    stored, branches = _kernels(steps, users)
    found: list[int] = []
    again: list[set[int]] = []  # what is done again wherever this value is needed
    for i, (kind, sources) in enumerate(steps):
        mine: set[int] = set()
        if not stored[i] and kind != "free":
            mine = _together(i, [again[s] for s in sources])
        if len(mine) > MOST_AGAIN and branches[i]:
            found.append(i)
            mine = set()
        again.append(mine)
    return found


def _together(i: int, before: list[set[int]]) -> set[int]:
    """The steps done again for step i; how many over the limit they are does not matter."""
    many = (steps for steps in before if len(steps) > MOST_AGAIN)
    return next(many, None) or {i}.union(*before)


def _kernels(steps: Sequence[Step], users: list[list[int]]) -> tuple[list[bool], list[bool]]:
    """Whether each value is stored anyway, and whether it is used by more than one kernel."""
    stored, branches = [False] * len(steps), [False] * len(steps)
    kernel = list(range(len(steps)))  # the one kernel that uses a value, or the value itself
    for i in reversed(range(len(steps))):
        kind = steps[i][0]
        needed = not users[i] or any(steps[u][0] == "apart" for u in users[i])
        stored[i] = needed or kind == "apart" or (kind == "dear" and len(users[i]) > 1)
        kernels = {kernel[u] for u in users[i]}
        branches[i] = not stored[i] and len(kernels) > 1
        if not stored[i] and len(kernels) == 1:
            kernel[i] = kernels.pop()
    return stored, branches


def compute_once(module: Any) -> int:
    """Cuts the chains of a StableHLO module, in place. Returns how many cuts it made."""
    operations = [o.operation for o in module.body.operations]
    functions = {o.attributes["sym_name"].value: o for o in operations if o.name == "func.func"}
    keepers: dict[Any, str] = {}
    apart = {name for name, f in functions.items() if name.startswith(PREFIX) or _has_apart(f)}
    sizes = {name: len(f.regions[0].blocks[0].operations) for name, f in functions.items()}
    count = 0
    for function in functions.values():
        for block in blocks(function):
            _leave_apart(block)
            if len(block.operations) >= _SHORT:
                count += _cut_block(module, block, apart, keepers)
            # A chain that was cut just now ends there.
            ends = apart.union(keepers.values())
            count += _cut_before_reductions(module, block, ends, sizes, keepers)
    return count


def _leave_apart(block: Any) -> None:
    """Has kernels' parts that ask for it compiled as programs of their own."""
    for each in block.operations:
        operation = each.operation
        if operation.name == "func.call":
            if operation.attributes["callee"].value.startswith(PREFIX):
                _stay(operation)


def blocks(operation: Any, least: int = 3) -> list[Any]:
    """The blocks inside an operation, however deep, of at least so many operations.

    Kernels' own little functions are left out by default.
    """
    found = []
    for region in operation.regions:
        for block in region.blocks:
            operations = list(block.operations)
            if len(operations) >= least:
                found.append(block)
            for inner in operations:
                if len(inner.operation.regions):
                    found += blocks(inner.operation, least)
    return found


def _has_apart(function: Any) -> bool:
    body = function.regions[0].blocks[0].operations
    return any(op_name(o.operation) in APART - {"return"} for o in body)


def op_name(operation: Any) -> str:
    name: str = operation.name
    return name.rpartition(".")[2]


def maker_of(value: Any) -> Any:
    """The operation that makes a value, None for an argument of a block."""
    maker = value.owner
    return maker.operation if hasattr(maker, "operation") else None


def _cut_block(module: Any, block: Any, apart: set[str], keepers: dict[Any, str]) -> int:
    operations = [o.operation for o in block.operations]
    maker: dict[Any, int] = {}
    steps: list[Step] = []
    for i, operation in enumerate(operations):
        sources = [maker[v] for v in operation.operands if v in maker]
        steps.append((_kind(operation, [steps[s][0] for s in sources], apart), sources))
        for result in operation.results:
            maker[result] = i
    found = [i for i in cuts(steps) if len(operations[i].results) == 1]
    for i in found:
        _keep(module, operations[i], operations[i + 1], keepers)
    return len(found)


def _kind(operation: Any, sources: list[str], apart: set[str]) -> str:
    name = op_name(operation)
    if name == "reduce" and not len(operation.attributes["dimensions"]):
        return "cheap"  # a sum over no dimension, as gradients of broadcasts may be
    if name in APART:
        return "apart"
    if name == "call":
        return "apart" if operation.attributes["callee"].value in apart else "cheap"
    if name in _DEAR or operation.name.startswith("chlo."):
        return "dear"
    known = len(sources) == len(operation.operands)
    return "free" if known and all(kind == "free" for kind in sources) else "cheap"


def _cut_before_reductions(
    module: Any, block: Any, apart: set[str], sizes: dict[str, int], keepers: dict[Any, str]
) -> int:
    """Cuts long chains off the large reductions that they end in."""
    operations = [o.operation for o in block.operations]
    maker = {result: i for i, o in enumerate(operations) for result in o.results}
    found: set[int] = set()
    for operation in operations:
        if op_name(operation) == "reduce" and len(operation.results) == 1:
            last = _made_by(operations, maker, operation.operands[0])
            if last is not None and _elements(operation.operands[0]) >= _LARGE:
                if _is_long(operations, maker, last, apart, sizes):
                    found.add(last)
    for i in sorted(found):
        _keep(module, operations[i], operations[i + 1], keepers)
    return len(found)


def _made_by(operations: Sequence[Any], maker: dict[Any, int], value: Any) -> int | None:
    """The operation that has computed a value, in whichever shape; None if it was given.

    XLA would go through all that comes before in the last of these shapes, where neighbours in
    memory, and what rows have in common, are harder to see.
    """
    last: int | None = maker.get(value)
    while last is not None and op_name(operations[last]) == "reshape":
        last = maker.get(operations[last].operands[0])
    return last


def _elements(value: Any) -> int:
    return math.prod(value.type.shape)


def _is_long(
    operations: Sequence[Any], maker: dict[Any, int], last: int, apart: set[str],
    sizes: dict[str, int],
) -> bool:  # fmt: skip
    """Whether more than a few operations on elements, or a product, make what this one gives."""
    seen, waiting, count = {last}, [last], 0
    while waiting and count <= _FEW:
        operation = operations[waiting.pop()]
        if op_name(operation) in _PRODUCTS:
            return True
        if _kind(operation, [], apart) == "apart":
            continue
        count += _steps(operation, sizes)
        sources = {maker[v] for v in operation.operands if v in maker} - seen
        seen |= sources
        waiting += sources
    return count > _FEW


def _steps(operation: Any, sizes: dict[str, int]) -> int:
    """How many operations on elements this one counts for."""
    name = op_name(operation)
    if name == "call":
        return sizes[operation.attributes["callee"].value]
    if name == "convert" and str(operation.operands[0].type.element_type) in _NARROW:
        return _FEW + 1
    return int(name not in _PLACES and _elements(operation.results[0]) >= _LARGE)


def _keep(module: Any, operation: Any, following: Any, keepers: dict[Any, str]) -> None:
    """Lets all users of a value get it from a call, which XLA takes for something of its own."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    value = operation.results[0]
    with operation.location:
        if value.type not in keepers:
            keepers[value.type] = _keeper(module, value.type, f"weft_keep_{len(keepers)}")
        with ir.InsertionPoint(following):
            call = func.CallOp([value.type], ir.FlatSymbolRefAttr.get(keepers[value.type]), [value])
        _stay(call.operation)
    value.replace_all_uses_except(call.results[0], [call.operation])


def _stay(call: Any) -> None:
    """Keeps a call from being inlined."""
    from jaxlib.mlir import ir

    with call.location:
        stay = ir.DictAttr.get({"inlineable": ir.StringAttr.get("false")})
        call.attributes[_HOW] = stay


def is_kept(operation: Any) -> bool:
    """Whether an operation is a call that is kept from being inlined."""
    return operation.name == "func.call" and _HOW in operation.attributes


def _keeper(module: Any, kind: Any, name: str) -> str:
    """Adds a function that returns its argument."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func

    with ir.InsertionPoint(module.body):
        function: Any = cast(Any, func.FuncOp)(name, ([kind], [kind]), visibility="private")
        with ir.InsertionPoint(function.add_entry_block()):
            func.ReturnOp([function.arguments[0]])
    return name
