# Written by `make stubs` from weft/api/gfile.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.storage.file_io import Copy as Copy
from weft.storage.file_io import DeleteRecursively as DeleteRecursively
from weft.storage.file_io import Exists as Exists
from weft.storage.file_io import FastGFile as FastGFile
from weft.storage.file_io import GFile as GFile
from weft.storage.file_io import Glob as Glob
from weft.storage.file_io import IsDirectory as IsDirectory
from weft.storage.file_io import ListDirectory as ListDirectory
from weft.storage.file_io import MakeDirs as MakeDirs
from weft.storage.file_io import MkDir as MkDir
from weft.storage.file_io import Open as Open
from weft.storage.file_io import Remove as Remove
from weft.storage.file_io import Rename as Rename
from weft.storage.file_io import Stat as Stat
from weft.storage.file_io import Walk as Walk
