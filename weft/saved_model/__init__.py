"""tf.saved_model: a graph with signatures, its variables and its files, in a folder of its own.

files.py        the folder: where things are, reading and writing saved_model.pb
tensor_info.py  a tensor of the graph as a TensorInfo message, and back
signatures.py   SignatureDef: named inputs and outputs
assets.py       files that the graph names travel with it
builder.py      graph and session -> folder
loader.py       folder -> graph and session
"""
