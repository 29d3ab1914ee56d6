"""tf.data: public names, re-exported from where they are made."""

from weft.lib.autograph import api as _autograph  # converts the functions of pipelines
from weft.lib.data.dataset import Dataset as Dataset
from weft.lib.data.dataset_spec import DatasetSpec as DatasetSpec
from weft.lib.data.iterator import Iterator as Iterator
from weft.lib.data.make_iterator import (
    get_output_classes as get_output_classes,
    get_output_shapes as get_output_shapes,
    get_output_types as get_output_types,
    make_initializable_iterator as make_initializable_iterator,
    make_one_shot_iterator as make_one_shot_iterator,
)
from weft.lib.data.options import Options as Options
from weft.lib.data.readers import (
    FixedLengthRecordDataset as FixedLengthRecordDataset,
    TextLineDataset as TextLineDataset,
    TFRecordDataset as TFRecordDataset,
)
from weft.api.data import experimental as experimental
