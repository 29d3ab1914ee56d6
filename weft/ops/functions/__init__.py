"""Functions of a graph's library, and Python functions as operations."""
