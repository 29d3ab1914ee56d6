from __future__ import annotations

import json

import weft as tf
from weft.client.timeline import Timeline


def test_a_traced_step_as_chrome_trace(sess) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(x, x, name="y")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    sess.run(y, {x: 1.0}, options=options, run_metadata=metadata)
    trace = Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True)
    events = json.loads(trace)["traceEvents"]
    bars = [event for event in events if event["ph"] == "X"]
    assert any(bar["name"] == "Add" and bar["args"]["name"] == "y" for bar in bars)
    names = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert any("CPU:0" in name or "GPU:0" in name for name in names)
    assert any(event["ph"] == "C" for event in events)
