"""tf.io.gfile: public names, re-exported from where they are made."""

from weft.storage.file_io import (
    copy as copy,
    exists as exists,
    GFile as GFile,
    glob as glob,
    isdir as isdir,
    listdir as listdir,
    makedirs as makedirs,
    mkdir as mkdir,
    remove as remove,
    rename as rename,
    rmtree as rmtree,
    stat as stat,
    walk as walk,
)
