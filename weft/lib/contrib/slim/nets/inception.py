"""tf.contrib.slim.nets.inception: the three versions under one name."""

from weft.lib.contrib.slim.nets.inception_v1 import inception_v1 as inception_v1
from weft.lib.contrib.slim.nets.inception_v1 import inception_v1_arg_scope as inception_v1_arg_scope
from weft.lib.contrib.slim.nets.inception_v1 import inception_v1_base as inception_v1_base
from weft.lib.contrib.slim.nets.inception_v2 import inception_v2 as inception_v2
from weft.lib.contrib.slim.nets.inception_v2 import inception_v2_arg_scope as inception_v2_arg_scope
from weft.lib.contrib.slim.nets.inception_v2 import inception_v2_base as inception_v2_base
from weft.lib.contrib.slim.nets.inception_v3 import inception_v3 as inception_v3
from weft.lib.contrib.slim.nets.inception_v3 import inception_v3_arg_scope as inception_v3_arg_scope
from weft.lib.contrib.slim.nets.inception_v3 import inception_v3_base as inception_v3_base
