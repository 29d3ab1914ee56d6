"""The options of a profile: a dictionary, with ready ones for the usual questions."""

from __future__ import annotations

import copy
from typing import Any, Self

TRAINABLE_VARIABLES = "_trainable_variables"
COMMON = {
    "max_depth": 10000,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
    "select": ["micros"],
    "step": -1,
    "output": "stdout",
}


class ProfileOptionBuilder:
    """Makes options step by step: `ProfileOptionBuilder(start).with_max_depth(3).build()`."""

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        plain = COMMON | {"max_depth": 100, "account_displayed_op_only": False}
        self._options = copy.deepcopy(plain if options is None else options)

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """How many parameters there are to train."""
        asked = {"account_type_regexes": [TRAINABLE_VARIABLES], "select": ["params"]}
        return copy.deepcopy(COMMON | asked)

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """How many floating-point operations one run takes, where shapes are known."""
        asked = {"min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops"]}
        return copy.deepcopy(COMMON | asked)

    @staticmethod
    def time_and_memory(
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """Time and memory of the step whose RunMetadata is given."""
        least = {name: value for name, value in locals().items() if name.startswith("min_")}
        asked = {"order_by": "micros", "select": ["micros", "bytes"]}
        return copy.deepcopy(COMMON | least | asked)

    def build(self) -> dict[str, Any]:
        return copy.deepcopy(self._options)

    def _with(self, **options: Any) -> Self:
        self._options.update(copy.deepcopy(options))
        return self

    def with_max_depth(self, max_depth: int) -> Self:
        return self._with(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> Self:
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> Self:
        return self._with(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_parameters(self, min_params: int) -> Self:
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> Self:
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> Self:
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Any) -> Self:
        return self._with(account_type_regexes=account_type_regexes)

    def with_node_names(
        self,
        start_name_regexes: Any = None,
        show_name_regexes: Any = None,
        hide_name_regexes: Any = None,
        trim_name_regexes: Any = None,
    ) -> Self:
        given = {name: value for name, value in locals().items() if name.endswith("_regexes")}
        return self._with(**{name: value for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> Self:
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> Self:
        return self._with(output="none")

    def with_stdout_output(self) -> Self:
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> Self:
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file: str) -> Self:
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file: str) -> Self:
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute: str) -> Self:
        return self._with(order_by=attribute)

    def select(self, attributes: Any) -> Self:
        return self._with(select=attributes)

    def with_step(self, step: int) -> Self:
        return self._with(step=step)
