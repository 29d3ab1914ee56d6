"""Modules of Python's library that are gone: the parts that programs and libraries used."""
