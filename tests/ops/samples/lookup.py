"""The ops on lookup tables hold state: programs in tests/ops/lookup/test_lookup.py run them."""

from __future__ import annotations

from tests.ops.sample import skip

_PAIRS = (
    "HashTable MutableHashTable MutableHashTableOfTensors LookupTableFind LookupTableInsert"
    " LookupTableSize LookupTableExport LookupTableImport InitializeTable"
    " InitializeTableFromTextFile"
)
_NAMES = [
    *(name + version for name in _PAIRS.split() for version in ("", "V2")),
    "MutableDenseHashTableV2",
    "LookupTableRemoveV2",
]

SAMPLES = [skip(name, "needs a table: tests/ops/lookup/test_lookup.py") for name in _NAMES]
