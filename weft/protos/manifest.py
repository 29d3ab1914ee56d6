"""The messages with which exports of before SavedModel say what is in them."""

from __future__ import annotations

from weft.protos.declare import messages

_classes = messages(
    "tensorflow/contrib/session_bundle/manifest.proto",
    {
        "TensorBinding": "1 tensor_name string",
        "RegressionSignature": """
            1 input TensorBinding
            2 output TensorBinding
        """,
        "ClassificationSignature": """
            1 input TensorBinding
            2 classes TensorBinding
            3 scores TensorBinding
        """,
        "GenericSignature": "1 map {TensorBinding}",
        "Signature": """
            1 regression_signature RegressionSignature type
            2 classification_signature ClassificationSignature type
            3 generic_signature GenericSignature type
        """,
        "Signatures": """
            1 default_signature Signature
            2 named_signatures {Signature}
        """,
        "AssetFile": """
            1 tensor_binding TensorBinding
            2 filename string
        """,
    },
    package="tensorflow.serving",
)
TensorBinding = _classes["TensorBinding"]
RegressionSignature = _classes["RegressionSignature"]
ClassificationSignature = _classes["ClassificationSignature"]
GenericSignature = _classes["GenericSignature"]
Signature = _classes["Signature"]
Signatures = _classes["Signatures"]
AssetFile = _classes["AssetFile"]
