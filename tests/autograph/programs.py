"""Functions with all kinds of control flow. Each is called with numbers, as Python does it, and
converted, with tensors: the results have to agree.
"""

# ruff: noqa: B023, B905, E731, PERF401

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PROGRAMS: list[tuple[Callable[..., Any], list[tuple[int, ...]]]] = []


def given(*inputs: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The arguments that a function is tried with."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, [i if isinstance(i, tuple) else (i,) for i in inputs]))
        return function

    return add


# ---- conditionals ----


@given(-3, 0, 4)
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@given(-3, 0, 4)
def if_without_else(x):
    y = x
    if x > 0:
        y = y * 10
    return y


@given(-5, -1, 0, 3, 50)
def elif_chain(x):
    if x < -3:
        y = 1
    elif x < 0:
        y = 2
    elif x > 10:
        y = x
    else:
        y = 4
    return y


@given((1, 1), (1, -1), (-1, 1), (-1, -1))
def nested_if(a, b):
    r = 0
    if a > 0:
        if b > 0:
            r = a + b
        else:
            r = a - b
            t = r * 2
            r = t
    elif b > 0:
        r = -b
    return r


@given(-3, 3)
def early_return(x):
    if x > 0:
        return x * 2
    y = x - 1
    return y * y


@given(-8, -3, 3, 30)
def returns_in_places(x):
    if x > 0:
        if x > 10:
            return x
        z = x * 3
    else:
        if x < -5:
            return -x
        z = x
    z = z + 1
    return z


@given(-2, 7)
def several_results(x):
    if x > 0:
        a, (b, c) = x, (x + 1, [x + 2])
    else:
        a, (b, c) = -x, (0, [x])
    return a, b, c


@given(-2, 7)
def temporaries_of_one_branch(x):
    if x > 0:
        only_here = x * 5
        y = only_here + 1
    else:
        y = x
    return y


@given(-2, 7)
def ternary(x):
    return (x * 2 if x > 3 else x * 3) if x > 0 else -x


@given((1, 2), (5, 2), (2, 5), (-1, 0))
def logic(a, b):
    r = 0
    if a > 0 and b > 0 and not a > b:
        r = r + 1
    if a > 3 or b > 3:
        r = r + 10
    if not (a > 0 or b > 0):
        r = r + 100
    return r


@given(0, 3, 7, 12)
def chained_comparison(x):
    if 2 < x <= 7 < 10:
        return 1
    return 0


# ---- while ----


@given(0, 1, 7)
def while_sum(n):
    i, s = 0, 0
    while i < n:
        s += i
        i += 1
    return s


@given(0, 3, 20)
def while_break(n):
    i = 0
    s = 0
    while i < n:
        if s > 10:
            break
        s += i
        i += 1
    return s, i


@given(0, 3, 10)
def while_continue(n):
    i = s = 0
    while i < n:
        i += 1
        if i % 3 > 1:
            continue
        s += i
    return s


@given(0, 5, 40)
def while_break_and_continue(n):
    i = s = 0
    while i < n:
        i += 1
        if i % 2 > 0:
            continue
        if i > 20:
            break
        s += i
    return s + i


@given(1, 5)
def while_else(n):
    i = 0
    found = 0
    while i < n:
        if i > 2:
            found = i
            break
        i += 1
    else:
        found = -1
    return found


@given(0, 1, 5)
def nested_while(n):
    s = 0
    i = 0
    while i < n:
        j = 0
        while j < i:
            if j > 2:
                break
            s += i * j
            j += 1
        i += 1
    return s


@given(1, 9, 1000)
def while_return(n):
    i = 1
    while i < n:
        i = i * 3
        if i > 100:
            return i
        if i > 20:
            i = i + 1
    return -i


@given(0, 3)
def while_true(n):
    i = n
    while i < 1000:
        if i > 10:
            break
        i = i + 3
    return i


@given(0, 50)
def while_true_return(n):
    i = n - n
    while True:
        i = i + 1
        if i * i > n:
            return i


@given(0, 50)
def while_true_numbers(n):
    a, b = 0, 1
    while True:
        if a > n:
            break
        a, b = b, a + b
    return a


@given(3, 6)
def if_in_while_in_if(n):
    s = 0
    if n > 4:
        i = 0
        while i < n:
            if i > 3:
                s += 100
            else:
                s += 1
            i += 1
    return s


# ---- for ----


@given(0, 1, 6)
def for_range(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


@given((2, 9, 3), (0, 0, 1), (3, 8, 2))
def for_range_steps(a, b, c):
    s = 0
    for i in range(a, b, c):
        s = s * 2 + i
    return s


@given(0, 4, 12)
def for_break_continue(n):
    s = 0
    for i in range(n):
        if i > 8:
            break
        if i % 2 > 0:
            continue
        s += i
    return s


@given(0, 4, 12)
def for_return(n):
    for i in range(n):
        if i * i > 20:
            return i
    return -1


@given(0, 3, 12)
def for_else(n):
    r = 0
    for i in range(n):
        if i > 5:
            r = i
            break
    else:
        r = 77
    return r


@given(1, 4)
def nested_for(n):
    s = 0
    for i in range(n):
        for j in range(i):
            if j > 1:
                break
            s += i + j
    return s


@given(2, 5)
def functions_of_a_turn(n):
    s = 0
    for i in range(n):
        y = i * 2

        def get(z):
            return y + z

        s += get(1) + (lambda: y)()
    return s


@given(-2, 5)
def functions_of_a_branch(x):
    if x > 0:
        y = x * 2
        r = (lambda: y)() + sum([y for _ in [1, 2]])
    else:
        r = x
    return r


@given(2, 5)
def names_of_other_scopes(n):
    def twice(i):
        y = i * 2
        return y

    s = 0
    for i in range(n):
        y = twice(i)
        s += y
    return s + sum([y for y in (1, 2)]) + sum([i for i in [3]])


@given(3)
def iterators_keep_the_rest(x):
    items = iter([1, 2, 3, 4])
    for i in items:
        if i == 2:
            break
    return x + next(items)


@given(2, 5)
def python_loop_around_tensors(n):
    s = n
    for i in [1, 2, 3]:
        if s > i * 3:
            s = s - i
    return s


@given(3)
def unrolled_with_break(n):
    s = n
    for i in range(10):
        if i == 4:
            break
        s = s + i
    else:
        s = 0
    return s


@given(0, 3, 30)
def python_loop_that_a_tensor_ends(x):
    s = 0
    for i in [1, 5, 9, 13]:
        if s > x:
            break
        s = s + i
        if s > 14:
            return -s
    return s


@given(0, 3, 30)
def loop_that_becomes_one_of_tensors(x):
    n = 0
    while n < 10:
        n += 1
        x = x * 3
        if x > 50:
            return x
        if x > 20:
            break
    return x - n


# ---- functions ----


def _helper(x, times=2):
    if x > 0:
        return x * times
    return x


@given(-2, 3)
def calls_helper(x):
    return _helper(x) + _helper(x, times=5)


@given(-2, 3)
def local_function(x):
    def inner(y, z=1):
        if y > 0:
            return y + z
        return z

    return inner(x) + inner(x, z=4)


@given(-2, 3)
def lambdas(x):
    pick = lambda a, b: a if a > b else b
    return pick(x, 1) + (lambda q: -q if q < 0 else q)(x)


@given(-2, 3)
def closure_changes(x):
    total = 0

    def add(y):
        nonlocal total
        if y > 0:
            total = total + y

    add(x)
    add(4)
    return total


@given(-2, 3)
def variables_of_outside(x):
    global _made_by_a_branch
    y: int

    def choose():
        nonlocal y
        if x > 0:
            y = x
        else:
            y = 5

    choose()
    if x > 0:
        _made_by_a_branch = x
    else:
        _made_by_a_branch = -x
    found = _made_by_a_branch
    del _made_by_a_branch
    return y, found


@given(-2, 3)
def read_by_function_later(x):
    y = 1

    def get():
        return y * 10

    if x > 0:
        y = x
    return get()


@given(-2, 3)
def varargs(x):
    def join(*args, **kwargs):
        s = 0
        for a in args:
            s = s + a
        for k in sorted(kwargs):
            s = s * kwargs[k]
        return s

    more = {"b": 2}
    return join(x, *[1, 2], a=3, **more)


def _factorial(n):
    if n <= 1:
        return 1
    return n * _factorial(n - 1)


@given(2)
def recursion_over_numbers(x):
    return x * _factorial(5)


# ---- other statements ----


class Box:
    """Something with attributes."""

    def __init__(self, value):
        self.value = value
        self.count = 0


@given(-2, 3)
def attributes(x):
    box = Box(x)
    if x > 0:
        box.value = box.value * 2
        box.count = 1
    else:
        box.count = 5
    i = 0
    while i < x:
        box.value += 1
        i += 1
    return box.value, box.count


@given(-2, 3)
def items(x):
    table, row = {"a": x, "b": 1}, [x, 1]
    if x > 0:
        table["a"] = x * 2
        row[0] = x * 3
        key = "b"
        table[key] = 5
    for i in range(x):
        table["a"] = table["a"] + i
        row[1] += i
    return table["a"], row


@given(-2, 3)
def structures(x):
    state = {"a": x, "b": (x, 0)}
    i = 0
    while i < 3:
        if x > 0:
            state = {"a": state["a"] + i, "b": (state["b"][0], i)}
        i += 1
    return state["a"], state["b"]


@given(-2, 3)
def comprehensions(x):
    values = [x * i for i in range(3) if i > 0]
    table = {k: v for k, v in zip("ab", values)}
    s = 0
    for v in values:
        s = s + v if v > 0 else s
    return s + table["a"] + sum(values)


@given(-2, 3)
def try_and_with(x):
    import contextlib

    y = 0
    with contextlib.suppress(KeyError):
        if x > 0:
            y = x
        {}["missing"]
    try:
        if y > 0:
            y = y + 1
        raise ValueError("told")
    except ValueError:
        if y > 1:
            y = y * 2
    finally:
        y = y + 100
    return y


def _fails(x):
    raise ValueError("told")


@given(3)
def return_of_what_fails(x):
    try:
        return _fails(x)
    except ValueError:
        pass
    return x * 2


@given(3)
def return_of_what_is_suppressed(x):
    import contextlib

    with contextlib.suppress(ValueError):
        return _fails(x)
    return x * 3


@given(-2, 3)
def else_of_try(x):
    s = 0
    for i in [1, 2, 3]:
        try:
            if i > 1:
                continue
            if i > 2:
                break
        except ValueError:
            s = -1
        else:
            s = s + i * x
    try:
        return s + x
    except ValueError:
        s = 1
    else:
        raise ValueError("not here")
    finally:
        s = 7


@given(-2, 3)
def augmented_and_walrus(x):
    y = (z := x + 1) * 2
    y -= z
    if (w := y + 1) > 0:
        y *= w
    return y


@given(-2, 3)
def annotated(x: int) -> int:
    y: int = x
    z: int
    if y > 0:
        y: int = y + 1
    z = y
    return z


@given(-2, 3)
def deleted(x):
    y = x
    if x > 0:
        t = y + 1
        y = t
        del t
    return y


@given(4)
def python_values_stay(x):
    flag = True
    names = []
    for name in ("a", "b"):
        if flag and name == "b":
            names.append(name)
    if names == ["b"] and not isinstance(flag, int):
        return 0
    assert len(names) == 1, "one name"
    return x if names else None


@given((3, 2), (3, -2))
def asserts_and_prints(x, y):
    assert x > 0, "positive"
    if y > 0:
        x = x + y
    return x
