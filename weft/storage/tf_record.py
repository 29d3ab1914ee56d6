"""Record files: byte strings, each with its length and checksums, perhaps compressed.

A record is: length (8 bytes, little-endian), masked crc32c of those, content, masked crc32c of it.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO

import google_crc32c

from weft.core import compat, errors
from weft.core.expansion import check_expansion
from weft.storage.file_io import open_binary

_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_MASK = 0xA282EAD8
_CHUNK = 1 << 18
_LARGE = 1 << 24


_crc32c = google_crc32c.value


def _masked(crc: int) -> int:
    """Rotated and shifted, so that a crc of data that holds crcs is still useful."""
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


def masked_crc(data: bytes) -> int:
    """The crc32c of `data` in the form in which files hold it."""
    return _masked(_crc32c(data))


@lru_cache(maxsize=4096)
def _header(length: int) -> bytes:
    """The header of a record of `length` bytes."""
    packed = _LENGTH.pack(length)
    return packed + _CRC.pack(masked_crc(packed))


# ---- options -------------------------------------------------------------------------------------


class TFRecordCompressionType:
    """How a record file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


@dataclass(eq=False, repr=False)
class TFRecordOptions:
    """How to read or write a record file; the rest are zlib's own settings."""

    compression_type_map = {  # noqa: RUF012
        TFRecordCompressionType.ZLIB: "ZLIB",
        TFRecordCompressionType.GZIP: "GZIP",
        TFRecordCompressionType.NONE: "",
    }

    compression_type: Any = None
    flush_mode: int | None = None
    input_buffer_size: int | None = None
    output_buffer_size: int | None = None
    window_bits: int | None = None
    compression_level: int | None = None
    compression_method: int | None = None
    mem_level: int | None = None
    compression_strategy: int | None = None

    def __post_init__(self) -> None:
        self.get_compression_type_string(self.compression_type)

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """ "ZLIB", "GZIP" or "" for options, a compression type or its name."""
        while isinstance(options, TFRecordOptions):
            options = options.compression_type
        if not options:
            return ""
        name = cls.compression_type_map.get(options, options)
        if name not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return name

    def deflater(self) -> Any:
        """A zlib compressor with these settings; None when nothing is compressed."""
        kind = self.get_compression_type_string(self)
        if not kind:
            return None
        bits = self.window_bits
        if bits is None:
            bits = 31 if kind == "GZIP" else 15  # zlib takes 16 more to mean a gzip header
        return zlib.compressobj(
            -1 if self.compression_level is None else self.compression_level,
            zlib.DEFLATED if self.compression_method is None else self.compression_method,
            bits,
            9 if self.mem_level is None else self.mem_level,
            0 if self.compression_strategy is None else self.compression_strategy,
        )


# ---- reading -------------------------------------------------------------------------------------


def what_failed(error: zlib.error) -> str:
    """The code and the words of zlib, which Python puts among its own."""
    number, _, reason = str(error).removeprefix("Error ").partition(" while decompressing data")
    return f"error {number}{reason}"


class _Inflated(io.RawIOBase):
    """The decompressed content of a file; several streams may follow one another."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.consumed = 0
        self._restart()
        self.data = b""

    def _restart(self) -> None:
        self.inflater = zlib.decompressobj(47)  # 15 bits, and either header

    def _more(self) -> bytes:
        read = self.file.read(_CHUNK)
        self.consumed += len(read)
        return read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            while not self.data:
                if self.inflater.eof:
                    left = self.inflater.unused_data or self._more()
                    if not left:
                        return 0
                    self._restart()
                else:
                    left = self.inflater.unconsumed_tail or self._more()
                    if not left:
                        return 0
                self.data = self.inflater.decompress(left, _CHUNK)
        except zlib.error as error:
            raise errors.DataLossError(
                None, None, f"inflate() failed with {what_failed(error)}"
            ) from error
        count = min(len(buffer), len(self.data))
        buffer[:count] = self.data[:count]
        self.data = self.data[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


def open_records(path: Any, compression: str = "") -> BinaryIO:
    """The decompressed content of a record file."""
    file = open_binary(path)
    if not compression:
        return file
    return io.BufferedReader(_Inflated(file), _CHUNK)  # type: ignore[return-value]


def check_growth(file: BinaryIO, size: int, what: str) -> None:
    """ResourceExhaustedError if so much is to be kept of a file that is hardly as large."""
    raw = getattr(file, "raw", None)
    if isinstance(raw, _Inflated):
        check_expansion(size, raw.consumed, what)


def read_up_to(file: BinaryIO, size: int, what: str) -> bytes:
    """`size` bytes of a file, or as many as it has. Memory is taken for what there is."""
    if size <= _LARGE:
        return file.read(size)
    pieces, left = [], size
    while left and (piece := file.read(min(left, _LARGE))):
        pieces.append(piece)
        left -= len(piece)
        check_growth(file, size - left, what)
    return b"".join(pieces)


class RecordReader:
    """Reads the records of a file one by one; `offset` counts decompressed bytes."""

    def __init__(self, path: Any, compression: str = "", offset: int = 0) -> None:
        self.file = open_records(path, compression)
        self.offset = offset
        if offset:
            self.file.read(offset) if compression else self.file.seek(offset)
        self._block, self._position = b"", 0
        # What comes before a record, and its length: records of one length share it.
        self._head, self._length = _header(0), 0

    def read(self) -> bytes | None:
        """The next record, or None at the end. DataLossError if the file is damaged there.

        A length that is not whole is the end, too: what is being written may end in it.
        """
        block, start = self._block, self._position
        if len(block) - start < 12:
            block, start = self._refill(12), 0
            if len(block) < 12:
                return None
        if block[start : start + 12] != self._head:
            self._head = block[start : start + 12]
            self._length = _LENGTH.unpack_from(self._head)[0]
        if self._head != _header(self._length):
            raise self._lost("corrupted")
        length = self._length
        size = length + 16
        if len(block) - start < size:
            block, start = self._refill(size), 0
            if len(block) < size:
                raise self._lost("truncated")
        end = start + 12 + length
        data = block[start + 12 : end]
        if _masked(_crc32c(data)) != _CRC.unpack_from(block, end)[0]:
            raise self._lost("corrupted", 12)
        self._position = end + 4
        self.offset += size
        return data

    def _refill(self, size: int) -> bytes:
        """The block from here on, with `size` bytes if the file has them."""
        left = self._block[self._position :]
        self._block = left + read_up_to(self.file, max(_CHUNK, size - len(left)), "A record")
        self._position = 0
        return self._block

    def _lost(self, how: str, place: int = 0) -> errors.DataLossError:
        return errors.DataLossError(None, None, f"{how} record at {self.offset + place}")

    def close(self) -> None:
        self.file.close()


def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file.

    Args:
        path: the file.
        options: the `TFRecordOptions` it was written with.

    Returns:
        An iterator over bytes.

    Raises:
        tf.errors.NotFoundError: there is no such file.
        tf.errors.DataLossError: it is damaged.

    Example:
        >>> with tf.python_io.TFRecordWriter("one.tfrecord") as writer:
        ...     writer.write(b"one")
        >>> next(iter(tf.python_io.tf_record_iterator("one.tfrecord")))
        b'one'
    """
    compression = TFRecordOptions.get_compression_type_string(options)
    reader = RecordReader(path, compression)
    try:
        while (record := reader.read()) is not None:
            yield record
    finally:
        reader.close()


# ---- writing -------------------------------------------------------------------------------------


class TFRecordWriter:
    """Writes records to a file, which it replaces. Also a context manager.

    Args:
        path: the file.
        options: a `TFRecordOptions` or a compression type, such as "GZIP"; None: no compression.

    Example:
        >>> with tf.python_io.TFRecordWriter("numbers.tfrecord") as writer:
        ...     writer.write(b"one")
        ...     writer.write(b"two")
        >>> list(tf.python_io.tf_record_iterator("numbers.tfrecord"))
        [b'one', b'two']
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        self._deflater = options.deflater()
        # zlib gets the input in blocks, and flushes after each if it is asked to.
        self._block_size = options.input_buffer_size or _CHUNK
        self._flush_mode = options.flush_mode or zlib.Z_NO_FLUSH
        self._block: list[bytes] = []
        self._size = 0
        self._file: BinaryIO | None = open_binary(path, "wb")

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_file(self) -> BinaryIO:
        if self._file is None:
            raise errors.FailedPreconditionError(
                None, None, "Writer not initialized or previously closed"
            )
        return self._file

    def write(self, record: Any) -> None:
        """Adds one record."""
        file = self._file or self._open_file()
        data = record if type(record) is bytes else compat.as_bytes(record)
        framed = b"".join((_header(len(data)), data, _CRC.pack(_masked(_crc32c(data)))))
        if self._deflater is None:
            file.write(framed)
            return
        if self._size + len(framed) > self._block_size:
            self._deflate(self._flush_mode)
        self._block.append(framed)
        self._size += len(framed)

    def _deflate(self, flush_mode: int) -> None:
        if self._deflater is None:
            return
        file = self._open_file()
        file.write(self._deflater.compress(b"".join(self._block)))
        if flush_mode != zlib.Z_NO_FLUSH:
            file.write(self._deflater.flush(flush_mode))
        self._block, self._size = [], 0

    def flush(self) -> None:
        """Makes written records readable by others."""
        file = self._open_file()
        self._deflate(zlib.Z_SYNC_FLUSH)
        file.flush()

    def close(self) -> None:
        """Ends the file; nothing can be written after that."""
        if self._file is None:
            return
        self._deflate(zlib.Z_FINISH)
        self._file.close()
        self._file = None

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()
