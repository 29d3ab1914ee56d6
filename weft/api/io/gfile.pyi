# Written by `make stubs` from weft/api/io/gfile.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.storage.file_io import copy as copy
from weft.storage.file_io import exists as exists
from weft.storage.file_io import GFile as GFile
from weft.storage.file_io import glob as glob
from weft.storage.file_io import isdir as isdir
from weft.storage.file_io import listdir as listdir
from weft.storage.file_io import makedirs as makedirs
from weft.storage.file_io import mkdir as mkdir
from weft.storage.file_io import remove as remove
from weft.storage.file_io import rename as rename
from weft.storage.file_io import rmtree as rmtree
from weft.storage.file_io import stat as stat
from weft.storage.file_io import walk as walk
