"""tf.io.gfile: public names, re-exported from where they are made."""

from weft.io.file_io import (
    GFile as GFile,
)
from weft.io.file_io import (
    copy as copy,
)
from weft.io.file_io import (
    exists as exists,
)
from weft.io.file_io import (
    glob as glob,
)
from weft.io.file_io import (
    isdir as isdir,
)
from weft.io.file_io import (
    listdir as listdir,
)
from weft.io.file_io import (
    makedirs as makedirs,
)
from weft.io.file_io import (
    mkdir as mkdir,
)
from weft.io.file_io import (
    remove as remove,
)
from weft.io.file_io import (
    rename as rename,
)
from weft.io.file_io import (
    rmtree as rmtree,
)
from weft.io.file_io import (
    stat as stat,
)
from weft.io.file_io import (
    walk as walk,
)
