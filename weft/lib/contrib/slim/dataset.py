"""A collection of records and its parts."""

from __future__ import annotations

from typing import Any


class Dataset:
    """A data set: files, reader and decoder of the records, their number, and their items.

    Other named arguments become attributes, too.
    """

    def __init__(
        self,
        data_sources: Any,
        reader: Any,
        decoder: Any,
        num_samples: Any,
        items_to_descriptions: Any,
        **kwargs: Any,
    ) -> None:
        self.data_sources, self.reader, self.decoder = data_sources, reader, decoder
        self.num_samples, self.items_to_descriptions = num_samples, items_to_descriptions
        vars(self).update(kwargs)
