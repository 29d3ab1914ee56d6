"""The messages that control-flow contexts travel in, with TensorFlow's names and field numbers."""

from __future__ import annotations

from weft.protos.declare import messages

_classes = messages(
    "tensorflow/core/protobuf/control_flow.proto",
    {
        "ValuesDef": """
            1 values [string]
            2 external_values {string}
        """,
        "ControlFlowContextDef": """
            1 cond_ctxt CondContextDef ctxt
            2 while_ctxt WhileContextDef ctxt
        """,
        "CondContextDef": """
            1 context_name string
            2 pred_name string
            3 pivot_name string
            4 branch int32
            5 values_def ValuesDef
            6 nested_contexts [ControlFlowContextDef]
        """,
        "WhileContextDef": """
            1 context_name string
            2 parallel_iterations int32
            3 back_prop bool
            4 swap_memory bool
            5 pivot_name string
            6 pivot_for_pred_name string
            7 pivot_for_body_name string
            8 loop_exit_names [string]
            10 loop_enter_names [string]
            9 values_def ValuesDef
            11 maximum_iterations_name string
            12 nested_contexts [ControlFlowContextDef]
        """,
    },
)
ValuesDef = _classes["ValuesDef"]
ControlFlowContextDef = _classes["ControlFlowContextDef"]
CondContextDef = _classes["CondContextDef"]
WhileContextDef = _classes["WhileContextDef"]
