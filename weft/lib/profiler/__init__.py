"""tf.profiler: what a graph costs, in parameters, floating-point operations, time and memory.

`statistics.py` gathers what is known of each node; `scopes.py` and `types.py` add it up by name
scope and by type of operation; `report.py` writes the text.
"""
