"""tf.contrib.tensorrt: weft compiles by XLA, and is a build of TensorFlow without TensorRT."""

from __future__ import annotations

from typing import Any, NoReturn


def create_inference_graph(
    input_graph_def: Any,
    outputs: Any,
    max_batch_size: int = 1,
    max_workspace_size_bytes: int = 1 << 30,
    precision_mode: str = "FP32",
    minimum_segment_size: int = 3,
    is_dynamic_op: bool = False,
    maximum_cached_engines: int = 1,
    input_saved_model_dir: str | None = None,
    input_saved_model_tags: Any = None,
    input_saved_model_signature_key: str | None = None,
    output_saved_model_dir: str | None = None,
    session_config: Any = None,
) -> NoReturn:
    """Raises what TensorFlow does where it was built without TensorRT."""
    raise RuntimeError("Tensorflow has not been built with TensorRT support.")
