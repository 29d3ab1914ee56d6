"""The commands of `weft`, a module each: `add_parser` describes it, `run` does it.

`cli/main.py` finds them by walking this folder. One that is named is imported alone; all are for
help and completions, so a module loads what only it needs when it runs.
"""
