"""tf.distribute.experimental: public names, re-exported from where they are made."""

from weft.lib.distribute.collective import (
    CollectiveCommunication as CollectiveCommunication,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from weft.lib.distribute.parameter_server import (
    CentralStorageStrategy as CentralStorageStrategy,
    ParameterServerStrategy as ParameterServerStrategy,
)
