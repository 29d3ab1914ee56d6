"""tf.data.Dataset: a pipeline under construction. Every method adds an operation to the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.data import nest
from weft.lib.data.options import Options
from weft.lib.data.structure import OfElements, flat_tensor_shapes, flat_tensor_types
from weft.ops.kit.eager import executing_eagerly


class Dataset(OfElements):
    """Elements of one structure, and how to get them. Subclasses give `_as_variant_tensor`."""

    def __init__(self) -> None:
        self._variant_tensor = self._as_variant_tensor()

    def _as_variant_tensor(self) -> Tensor:
        raise NotImplementedError("Dataset._as_variant_tensor")

    def _inputs(self) -> Sequence[Dataset]:
        """The datasets this one is made of."""
        raise NotImplementedError("Dataset._inputs")

    def _functions(self) -> Sequence[Any]:
        """The functions that it calls."""
        return ()

    @property
    def element_spec(self) -> Any:
        """The type specs of an element."""
        raise NotImplementedError("Dataset.element_spec")

    @property
    def _flat_shapes(self) -> list[Any]:
        return flat_tensor_shapes(self.element_spec)

    @property
    def _flat_types(self) -> list[Any]:
        return flat_tensor_types(self.element_spec)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        return {"output_shapes": self._flat_shapes, "output_types": self._flat_types}

    @property
    def _type_spec(self) -> Any:
        from weft.lib.data.dataset_spec import DatasetSpec

        return DatasetSpec(self.element_spec)

    def __repr__(self) -> str:
        shapes = str(nest.map_structure(str, self.output_shapes)).replace("'", "")
        types = str(nest.map_structure(repr, self.output_types)).replace("'", "")
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>"

    def _repr_html_(self) -> str:
        from weft.lib.data.picture import dataset_table

        return dataset_table(self, DatasetV1Adapter)

    def __iter__(self) -> Any:
        """The elements, in eager execution."""
        if executing_eagerly():
            from weft.lib.data.eager_iterator import EagerIterator

            return EagerIterator(self)
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    def __bool__(self) -> bool:
        return True

    # ---- options ----

    def options(self) -> Options:
        """The options of this dataset and of those it is made of."""
        found = Options()
        for each in self._inputs():
            own = each.options()
            if own is not None:
                found = found.merge(own)
        return found

    def with_options(self, options: Options) -> Dataset:
        """The same dataset with options; ValueError if they contradict those it has."""
        from weft.lib.data.transform import with_options

        return with_options(self, options)

    def _apply_options(self) -> Dataset:
        from weft.lib.data.transform import apply_options

        return apply_options(self)

    # ---- sources ----

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element."""
        from weft.lib.data.sources import from_tensors

        return from_tensors(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """A dataset of the rows of tensors: slices along their first dimension.

        Args:
            tensors: a tensor, array or a structure of them, with one first dimension.

        Returns:
            A `Dataset`.

        Raises:
            ValueError: a tensor has no dimension, or the first ones differ.

        Example:
            >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3]).map(lambda x: x * 10)
            >>> row = dataset.make_one_shot_iterator().get_next()
            >>> [int(session.run(row)) for step in range(3)]
            [10, 20, 30]
        """
        from weft.lib.data.sources import from_tensor_slices

        return from_tensor_slices(tensors)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """The rows of a sparse tensor."""
        from weft.lib.data.sources import from_sparse_tensor_slices

        return from_sparse_tensor_slices(sparse_tensor)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any, output_shapes: Any = None,
        args: Any = None,
    ) -> Dataset:  # fmt: skip
        """A dataset of the elements that a Python generator yields.

        Args:
            generator: a function that gives an iterable.
            output_types: the types of an element, in its structure.
            output_shapes: its shapes; None leaves them open.
            args: tensors that are given to `generator` as arrays.

        Returns:
            A `Dataset`; each pass over it calls `generator` again.

        Raises:
            TypeError: `generator` cannot be called, or `args` do not convert to a tuple.

        Example:
            >>> squares = tf.data.Dataset.from_generator(lambda: [0, 1, 4], tf.int32)
            >>> square = squares.make_one_shot_iterator().get_next()
            >>> [int(session.run(square)) for step in range(3)]
            [0, 1, 4]
        """
        from weft.lib.data.generator import from_generator

        return from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Numbers: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
        from weft.lib.data.sources import range_

        return range_(*args)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements of several datasets side by side, in the form of `datasets`.

        Args:
            datasets: a structure of datasets, such as a pair.

        Returns:
            A `Dataset` as long as the shortest of them.

        Raises:
            TypeError: there is something else in the structure, or it is a list.

        Example:
            >>> numbers = tf.data.Dataset.range(2)
            >>> both = tf.data.Dataset.zip((numbers, numbers.map(lambda n: n + 10)))
            >>> session.run(both.make_one_shot_iterator().get_next())
            (np.int64(0), np.int64(10))
        """
        from weft.lib.data.transform import zip_

        return zip_(datasets)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None) -> Dataset:
        """The names of files that match."""
        from weft.lib.data.readers import list_files

        return list_files(file_pattern, shuffle, seed)

    # ---- order and choice ----

    def concatenate(self, dataset: Dataset) -> Dataset:
        """This dataset, then another."""
        from weft.lib.data.transform import concatenate

        return concatenate(self, dataset)

    def prefetch(self, buffer_size: Any) -> Dataset:
        """Elements are made before they are asked for."""
        from weft.lib.data.transform import prefetch

        return prefetch(self, buffer_size)

    def repeat(self, count: Any = None) -> Dataset:
        """The dataset `count` times, or for ever."""
        from weft.lib.data.transform import repeat

        return repeat(self, count)

    def enumerate(self, start: Any = 0) -> Dataset:
        """Elements with their numbers."""
        from weft.lib.data.transform import enumerate_

        return enumerate_(self, start)

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """Elements in a random order, drawn from a buffer of this size."""
        from weft.lib.data.transform import shuffle

        return shuffle(self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename: Any = "") -> Dataset:
        """Keeps elements, in memory or in files, for the next time around."""
        from weft.lib.data.transform import cache

        return cache(self, filename)

    def take(self, count: Any) -> Dataset:
        """The first elements."""
        from weft.lib.data.transform import take

        return take(self, count)

    def skip(self, count: Any) -> Dataset:
        """All but the first elements."""
        from weft.lib.data.transform import skip

        return skip(self, count)

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every `num_shards`-th element, from `index` on."""
        from weft.lib.data.transform import shard

        return shard(self, num_shards, index)

    # ---- batches ----

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Consecutive elements along a new first axis."""
        from weft.lib.data.batches import batch

        return batch(self, batch_size, drop_remainder)

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any, padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:  # fmt: skip
        """Batches of elements of different sizes, filled up."""
        from weft.lib.data.batches import padded_batch

        return padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def unbatch(self) -> Dataset:
        """The rows of each element."""
        from weft.lib.data.batches import unbatch

        return unbatch(self)

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Dataset:
        """Datasets of `size` elements each."""
        from weft.lib.data.batches import window

        return window(self, size, shift, stride, drop_remainder)

    # ---- functions ----

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """A function of every element."""
        from weft.lib.data.calls import map_

        return map_(self, map_func, num_parallel_calls)

    def map_with_legacy_function(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None
    ) -> Dataset:
        """As `map`, with a function of TensorFlow's first kind."""
        from weft.lib.data.calls import map_

        return map_(self, map_func, num_parallel_calls, legacy=True)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the dataset that a function makes of each element."""
        from weft.lib.data.calls import flat_map

        return flat_map(self, map_func)

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: Any = -1, block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:  # fmt: skip
        """As `flat_map`, with elements of `cycle_length` datasets in turn."""
        from weft.lib.data.calls import interleave

        return interleave(self, map_func, cycle_length, block_length, num_parallel_calls)

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a function holds."""
        from weft.lib.data.calls import filter_

        return filter_(self, predicate)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """As `filter`, with a function of TensorFlow's first kind."""
        from weft.lib.data.calls import filter_

        return filter_(self, predicate, legacy=True)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """The last of the states that a function of state and element goes through."""
        from weft.lib.data.reduction import reduce

        return reduce(self, initial_state, reduce_func)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """`transformation_func` of this dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        return dataset

    # ---- iterators ----

    def make_one_shot_iterator(self) -> Any:
        """An iterator that initializes itself, once. It can hold no state of the session."""
        from weft.lib.data.make_iterator import make_one_shot_iterator

        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator whose `initializer` starts it."""
        from weft.lib.data.make_iterator import make_initializable_iterator

        return make_initializable_iterator(self, shared_name)


class DatasetV1Adapter(Dataset):
    """A dataset that an operation makes."""

    def __init__(
        self, variant_tensor: Tensor, element_spec: Any, inputs: Sequence[Dataset] = (),
        functions: Sequence[Any] = (), options: Options | None = None,
    ) -> None:  # fmt: skip
        self._variant, self._spec = variant_tensor, element_spec
        self._from, self._called, self._own_options = tuple(inputs), tuple(functions), options
        super().__init__()

    def _as_variant_tensor(self) -> Tensor:
        return self._variant

    def _inputs(self) -> Sequence[Dataset]:
        return self._from

    def _functions(self) -> Sequence[Any]:
        return self._called

    @property
    def element_spec(self) -> Any:
        return self._spec

    def options(self) -> Options:
        return self._own_options if self._own_options is not None else super().options()
