"""tf.train.Example and its parts, which the tensorboard package does not ship."""

from __future__ import annotations

from weft.protos.declare import messages

_LISTS = {"bytes": "BytesList", "float": "FloatList", "int64": "Int64List"}
_FEATURE = {
    **{name: f"1 value [{kind}]" for kind, name in _LISTS.items()},
    "Feature": """
        1 bytes_list BytesList kind
        2 float_list FloatList kind
        3 int64_list Int64List kind
    """,
    "Features": "1 feature {Feature}",
    "FeatureList": "1 feature [Feature]",
    "FeatureLists": "1 feature_list {FeatureList}",
    "Example": "1 features Features",
    "SequenceExample": """
        1 context Features
        2 feature_lists FeatureLists
    """,
}
_classes = messages("tensorflow/core/example/example.proto", _FEATURE)
BytesList, FloatList, Int64List = (_classes[name] for name in _LISTS.values())
Feature, Features = _classes["Feature"], _classes["Features"]
FeatureList, FeatureLists = _classes["FeatureList"], _classes["FeatureLists"]
Example, SequenceExample = _classes["Example"], _classes["SequenceExample"]

# The same bytes read less deeply: each feature stays a string, which is decoded only if asked for.
_shallow = messages(
    "tensorflow/core/example/shallow.proto",
    {
        "Features": "1 feature {bytes}",
        "Example": "1 features Features",
        "SequenceExample": """
            1 context Features
            2 feature_lists Features
        """,
        "FeatureList": "1 feature [bytes]",
        "Batch": "1 features FeatureList",
    },
)
ShallowExample, ShallowSequenceExample = _shallow["Example"], _shallow["SequenceExample"]
ShallowFeatureList = _shallow["FeatureList"]
# Examples one after the other: the features of all of them, each with its key as one string.
ShallowBatch = _shallow["Batch"]
