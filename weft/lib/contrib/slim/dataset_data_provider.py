"""Tensors of a dataset's items, read by queue runners."""

from __future__ import annotations

from typing import Any

from weft.lib.contrib.slim.data_provider import DataProvider
from weft.lib.contrib.slim.parallel_reader import parallel_read


class DatasetDataProvider(DataProvider):
    """The items of a `Dataset`, and under `record_key` the key of the record they are from."""

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: dict[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        reading = num_epochs, num_readers, reader_kwargs, shuffle
        queue = None, common_queue_capacity, common_queue_min
        key, data = parallel_read(
            dataset.data_sources, dataset.reader, *reading, *queue, seed=seed, scope=scope
        )
        decoder = dataset.decoder
        items = decoder.list_items()
        tensors = dict(zip(items, decoder.decode(data, items), strict=True))
        if record_key in tensors:
            raise ValueError(
                "The item name used for `record_key` cannot also be used for a dataset item: "
                f"{record_key}"
            )
        super().__init__({**tensors, record_key: key}, dataset.num_samples)
