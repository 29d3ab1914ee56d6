"""Profiles as XLA makes them and TensorBoard's plugin reads them: planes of lines of events.

Names and stats are kept once per plane; events refer to them by number.
"""

from __future__ import annotations

from weft.protos.declare import messages

_classes = messages(
    "weft/protos/xplane.proto",
    {
        "XSpace": """
            1 planes [XPlane]
            2 errors [string]
            3 warnings [string]
            4 hostnames [string]
        """,
        # Maps from numbers, as entries: what travels is the same.
        "XPlane": """
            1 id int64
            2 name string
            3 lines [XLine]
            4 event_metadata [EventEntry]
            5 stat_metadata [StatEntry]
            6 stats [XStat]
        """,
        "EventEntry": """
            1 key int64
            2 value XEventMetadata
        """,
        "StatEntry": """
            1 key int64
            2 value XStatMetadata
        """,
        "XLine": """
            1 id int64
            10 display_id int64
            2 name string
            11 display_name string
            3 timestamp_ns int64
            9 duration_ps int64
            4 events [XEvent]
        """,
        "XEvent": """
            1 metadata_id int64
            2 offset_ps int64 data
            5 num_occurrences int64 data
            3 duration_ps int64
            4 stats [XStat]
        """,
        "XStat": """
            1 metadata_id int64
            2 double_value double value
            3 uint64_value uint64 value
            4 int64_value int64 value
            5 str_value string value
            6 bytes_value bytes value
            7 ref_value uint64 value
        """,
        "XEventMetadata": """
            1 id int64
            2 name string
            4 display_name string
            3 metadata bytes
            5 stats [XStat]
            6 child_id [int64]
        """,
        "XStatMetadata": """
            1 id int64
            2 name string
            3 description string
        """,
    },
    package="tensorflow.profiler",
)
XSpace = _classes["XSpace"]
