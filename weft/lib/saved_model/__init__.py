"""tf.saved_model: a graph with signatures, its variables and its files, in a folder of its own.

files.py        the folder: where things are, reading and writing saved_model.pb
tensor_info.py  a tensor of the graph as a TensorInfo message, and back
signatures.py   SignatureDef: named inputs and outputs
assets.py       files that the graph names travel with it
builder.py      graph and session -> folder
loader.py       folder -> graph and session

Objects instead of graphs (docs/saved_model.md):

save.py         object -> folder: `saved_objects.py` finds what belongs to it, `export_graph.py`
                makes the graph that sessions use, `saved_functions.py` describes functions
load.py         folder -> object: `object_references.py` checks the file, `restored_function.py`
                calls what was traced, `load_v1.py` does with graphs of TensorFlow 1
structure.py    nested values and type specs as messages
"""
