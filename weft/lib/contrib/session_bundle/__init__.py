"""tf.contrib.session_bundle: exports of models as they were before SavedModel."""

from weft.lib.contrib.session_bundle import bundle_shim as bundle_shim
from weft.lib.contrib.session_bundle import constants as constants
from weft.lib.contrib.session_bundle import exporter as exporter
from weft.lib.contrib.session_bundle import gc as gc
from weft.lib.contrib.session_bundle import session_bundle as session_bundle
from weft.protos import manifest as manifest_pb2  # noqa: F401
