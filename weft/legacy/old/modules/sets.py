"""`sets`: the built-in ones under their old names."""

Set, ImmutableSet, BaseSet = set, frozenset, (set, frozenset)
