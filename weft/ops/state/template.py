"""make_template: a function that makes its variables when first called, then shares them."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

from weft.graph.graph import GraphKeys, get_collection, get_collection_ref
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state.eager_store import EagerVariableStore
from weft.ops.state.get_variable import _get_default_variable_store, get_variable_scope_store
from weft.ops.state.variable_scope import (
    AUTO_REUSE,
    PureVariableScope,
    VariableScope,
    _get_unique_variable_scope,
    variable_scope,
)


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """`func_` (with `kwargs` given), sharing one set of variables between all calls."""
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    if not executing_eagerly():
        return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)
    if unique_name_ is not None:
        raise ValueError("unique_name_ cannot be used when eager execution is enabled.")
    return EagerTemplate(name_, func_, create_scope_now_, None, custom_getter_)


class Template:
    """A function bound to a variable scope, whose variables its first call makes."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._func, self._name = func, name
        self._unique_name, self._custom_getter = unique_name, custom_getter
        self._stack = traceback.format_stack()[:-2]
        self._variable_scope: VariableScope | None = None
        self._variables_created = False
        self._first_call = True
        if create_scope_now:
            scope_name = unique_name or _get_unique_variable_scope(name)
            with PureVariableScope(scope_name, custom_getter=custom_getter) as scope:
                self._variable_scope = scope

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        known = self._variable_scope
        if known is None:
            getter = self._custom_getter
            opened = variable_scope(self._unique_name, self._name, custom_getter=getter)
        else:
            opened = variable_scope(known, reuse=not self._first_call)
        with opened as scope:
            self._variable_scope = scope if known is None else known
            try:
                return self._how_to_call()(*args, **kwargs)
            except Exception as error:
                self._add_origin(error)
                raise

    def _how_to_call(self) -> Callable[..., Any]:
        if self._variables_created:
            return self._call_sharing
        # Neither the first call nor after it: the template calls itself while it makes variables.
        return self._call_first if self._first_call else self._func

    def _call_first(self, *args: Any, **kwargs: Any) -> Any:
        self._first_call = False
        try:
            result = self._func(*args, **kwargs)
        except BaseException:
            self._first_call = True
            raise
        self._variables_created = True
        return result

    def _call_sharing(self, *args: Any, **kwargs: Any) -> Any:
        before = len(get_collection_ref(GraphKeys.TRAINABLE_VARIABLES))
        result = self._func(*args, **kwargs)
        made = get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)[before:]
        if made:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps "
                f"you used tf.Variable when you meant tf.get_variable: {made}"
            )
        return result

    def _add_origin(self, error: Exception) -> None:
        """Adds to the message where the template was made."""
        here = traceback.format_stack()
        pairs = enumerate(zip(self._stack, here, strict=False))
        start = next((i for i, (a, b) in pairs if a != b), len(self._stack) - 1)
        message = error.args[0] if error.args else ""
        origin = f"{message}\n\noriginally defined at:\n{''.join(self._stack[start:])}"
        error.args = (origin, *error.args[1:])

    @property
    def name(self) -> str:
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of the variables; None before it is made."""
        return self._variable_scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The scope's name with a trailing slash."""
        if self._variable_scope is None:
            return None
        name = self._variable_scope.name
        return name if not name or name.endswith("/") else name + "/"

    def _collection(self, key: str) -> list[Any]:
        return get_collection(key, self.variable_scope_name) if self._variables_created else []

    @property
    def global_variables(self) -> list[Any]:
        return self._collection(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        return self._collection(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        return self.global_variables + self.local_variables

    @property
    def trainable_variables(self) -> list[Any]:
        return self._collection(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def non_trainable_variables(self) -> list[Any]:
        trainable = set(self.trainable_variables)
        return [v for v in self.global_variables if v not in trainable]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables


class EagerTemplate(Template):
    """A template of eager execution: a store of its own keeps the variables for later calls.

    A template that is called by another one shares its store.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        outer = _get_default_variable_store()
        self._template_store = EagerVariableStore(outer if outer._store_eager_variables else None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._variable_scope is None:
            opened = variable_scope(None, self._name, custom_getter=self._custom_getter)
        else:
            opened = variable_scope(self._variable_scope, reuse=AUTO_REUSE)
        with opened as scope:
            self._variable_scope = self._variable_scope or scope
            with self._template_store.as_default():
                try:
                    return self._how_to_call()(*args, **kwargs)
                except Exception as error:
                    self._add_origin(error)
                    raise
                finally:
                    get_variable_scope_store().close_variable_subscopes(self._variable_scope.name)

    def _call_sharing(self, *args: Any, **kwargs: Any) -> Any:
        before = self.trainable_variables
        result = self._func(*args, **kwargs)
        made = [v for v in self.trainable_variables if all(v is not old for old in before)]
        if made:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps "
                f"you used tf.Variable when you meant tf.get_variable: {made}"
            )
        return result

    def _own(self, variables: list[Any]) -> list[Any]:
        start = self.variable_scope_name
        if start is None or not self._variables_created:
            return []
        return [each for each in variables if each.name.startswith(start)]

    @property
    def variables(self) -> list[Any]:
        return self._own(self._template_store.variables())

    @property
    def global_variables(self) -> list[Any]:
        return self.variables

    @property
    def local_variables(self) -> list[Any]:
        return []

    @property
    def trainable_variables(self) -> list[Any]:
        return self._own(self._template_store.trainable_variables())

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self._own(self._template_store.non_trainable_variables())

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
