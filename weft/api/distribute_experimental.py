"""tf.distribute.experimental: public names, re-exported from where they are made."""

from weft.distribute.collective import (
    CollectiveCommunication as CollectiveCommunication,
    MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy,
)
from weft.distribute.parameter_server import (
    CentralStorageStrategy as CentralStorageStrategy,
    ParameterServerStrategy as ParameterServerStrategy,
)
