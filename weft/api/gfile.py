"""tf.gfile: public names, re-exported from where they are made."""

from weft.io.file_io import (
    Copy as Copy,
)
from weft.io.file_io import (
    DeleteRecursively as DeleteRecursively,
)
from weft.io.file_io import (
    Exists as Exists,
)
from weft.io.file_io import (
    FastGFile as FastGFile,
)
from weft.io.file_io import (
    GFile as GFile,
)
from weft.io.file_io import (
    Glob as Glob,
)
from weft.io.file_io import (
    IsDirectory as IsDirectory,
)
from weft.io.file_io import (
    ListDirectory as ListDirectory,
)
from weft.io.file_io import (
    MakeDirs as MakeDirs,
)
from weft.io.file_io import (
    MkDir as MkDir,
)
from weft.io.file_io import (
    Open as Open,
)
from weft.io.file_io import (
    Remove as Remove,
)
from weft.io.file_io import (
    Rename as Rename,
)
from weft.io.file_io import (
    Stat as Stat,
)
from weft.io.file_io import (
    Walk as Walk,
)
