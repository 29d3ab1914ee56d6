"""TensorArrays, tensor lists and the stacks of loops."""
