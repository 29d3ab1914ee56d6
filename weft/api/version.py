"""tf.version: public names, re-exported from where they are made."""

from weft.platform.versions import (
    COMPILER_VERSION as COMPILER_VERSION,
)
from weft.platform.versions import (
    GIT_VERSION as GIT_VERSION,
)
from weft.platform.versions import (
    GRAPH_DEF_VERSION as GRAPH_DEF_VERSION,
)
from weft.platform.versions import (
    GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER,
)
from weft.platform.versions import (
    GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER,
)
from weft.platform.versions import (
    VERSION as VERSION,
)
