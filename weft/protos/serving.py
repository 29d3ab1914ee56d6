"""The messages of TensorFlow Serving's services, with its names and field numbers.

Messages that the tensorboard package ships, and tf.Examples, are bytes here: on the wire a message
inside of another is just that. Enums are numbers; `weft/serve` knows their names.
"""

from __future__ import annotations

from typing import Any

from weft.protos.declare import messages

_INPUT = {
    "Int64Value": "1 value int64",
    "BoolValue": "1 value bool",
    "StringValue": "1 value string",
    "ModelSpec": """
        1 name string
        2 version Int64Value version_choice
        4 version_label string version_choice
        3 signature_name string
    """,
    "ExampleList": "1 examples [bytes]",
    "ExampleListWithContext": """
        1 examples [bytes]
        2 context bytes
    """,
    "Input": """
        1 example_list ExampleList kind
        2 example_list_with_context ExampleListWithContext kind
    """,
}

_RESULTS = {
    "Class": """
        1 label bytes
        2 score float
    """,
    "Classifications": "1 classes [Class]",
    "ClassificationResult": "1 classifications [Classifications]",
    "Regression": "1 value float",
    "RegressionResult": "1 regressions [Regression]",
}

_PREDICTION = {
    "ClassificationRequest": """
        1 model_spec ModelSpec
        2 input Input
    """,
    "ClassificationResponse": """
        2 model_spec ModelSpec
        1 result ClassificationResult
    """,
    "RegressionRequest": """
        1 model_spec ModelSpec
        2 input Input
    """,
    "RegressionResponse": """
        2 model_spec ModelSpec
        1 result RegressionResult
    """,
    "PredictRequest": """
        1 model_spec ModelSpec
        2 inputs {bytes}
        3 output_filter [string]
    """,
    "PredictResponse": """
        2 model_spec ModelSpec
        1 outputs {bytes}
    """,
    "InferenceTask": """
        1 model_spec ModelSpec
        2 method_name string
    """,
    "InferenceResult": """
        1 model_spec ModelSpec
        2 classification_result ClassificationResult result
        3 regression_result RegressionResult result
    """,
    "MultiInferenceRequest": """
        1 tasks [InferenceTask]
        2 input Input
    """,
    "MultiInferenceResponse": "1 results [InferenceResult]",
    "SignatureDefMap": "1 signature_def {bytes}",
    "Any": """
        1 type_url string
        2 value bytes
    """,
    "GetModelMetadataRequest": """
        1 model_spec ModelSpec
        2 metadata_field [string]
    """,
    "GetModelMetadataResponse": """
        1 model_spec ModelSpec
        2 metadata {Any}
    """,
    "NamedTensorProto": """
        1 name string
        2 tensor bytes
    """,
    "SessionRunRequest": """
        1 model_spec ModelSpec
        2 feed [NamedTensorProto]
        3 fetch [string]
        4 target [string]
        6 tensor_name_is_alias bool
        5 options bytes
    """,
    "SessionRunResponse": """
        3 model_spec ModelSpec
        1 tensor [NamedTensorProto]
        2 metadata bytes
    """,
}

_LOGS = {
    "ClassifyLog": "1 request ClassificationRequest",
    "RegressLog": "1 request RegressionRequest",
    "PredictLog": "1 request PredictRequest",
    "MultiInferenceLog": "1 request MultiInferenceRequest",
    "SessionRunLog": "1 request SessionRunRequest",
    "PredictionLog": """
        2 classify_log ClassifyLog log_type
        3 regress_log RegressLog log_type
        6 predict_log PredictLog log_type
        4 multi_inference_log MultiInferenceLog log_type
        5 session_run_log SessionRunLog log_type
    """,
}

_CONFIG = {
    "Latest": "1 num_versions uint32",
    "All": "",
    "Specific": "1 versions [int64]",
    "ServableVersionPolicy": """
        100 latest Latest policy_choice
        101 all All policy_choice
        102 specific Specific policy_choice
    """,
    "LogCollectorConfig": """
        1 type string
        2 filename_prefix string
    """,
    "SamplingConfig": "1 sampling_rate double",
    "LoggingConfig": """
        1 log_collector_config LogCollectorConfig
        2 sampling_config SamplingConfig
    """,
    "ModelConfig": """
        1 name string
        2 base_path string
        3 model_type ModelType
        4 model_platform string
        7 model_version_policy ServableVersionPolicy
        8 version_labels {int64}
        6 logging_config LoggingConfig
    """,
    "ModelConfigList": "1 config [ModelConfig]",
    "ModelServerConfig": """
        1 model_config_list ModelConfigList config
        2 custom_model_config Any config
    """,
    "BatchingParameters": """
        1 max_batch_size Int64Value
        2 batch_timeout_micros Int64Value
        3 max_enqueued_batches Int64Value
        4 num_batch_threads Int64Value
        5 thread_pool_name StringValue
        8 enable_large_batch_splitting BoolValue
        9 max_execution_batch_size Int64Value
        6 allowed_batch_sizes [int64]
        7 pad_variable_length_inputs bool
    """,
    "PrometheusConfig": """
        1 enable bool
        2 path string
    """,
    "MonitoringConfig": "1 prometheus_config PrometheusConfig",
}

_MANAGEMENT = {
    "StatusProto": """
        1 error_code int32
        2 error_message string
    """,
    "ModelVersionStatus": """
        1 version int64
        2 state int32
        3 status StatusProto
    """,
    "GetModelStatusRequest": "1 model_spec ModelSpec",
    "GetModelStatusResponse": "1 model_version_status [ModelVersionStatus]",
    "Metric": """
        1 name string
        2 int64_value_increase int64 value_increase
    """,
    "ReloadConfigRequest": """
        1 config ModelServerConfig
        2 metric_names [string]
    """,
    "ReloadConfigResponse": """
        1 status StatusProto
        2 metric [Metric]
    """,
    "HealthCheckRequest": "1 service string",
    "HealthCheckResponse": "1 status int32",
}

_CLASSES = messages(
    "weft/protos/serving.proto",
    _INPUT | _RESULTS | _PREDICTION | _LOGS | _CONFIG | _MANAGEMENT,
    enums={"ModelType": ("MODEL_TYPE_UNSPECIFIED", "TENSORFLOW", "OTHER")},
)


def message(name: str) -> Any:
    """The class of a message."""
    return _CLASSES[name]
