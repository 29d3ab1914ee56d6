"""The rows of the table of operations (`benchmarks/operations.py`)."""
