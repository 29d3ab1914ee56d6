"""The commands of `weft`, a module each: `add_parser` describes it, `run` does it.

`cli/main.py` finds them by walking this folder. All are imported for any of them, so a module loads
what only it needs when it runs.
"""
