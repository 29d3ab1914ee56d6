# Written by `make stubs` from weft/api/data/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.autograph import api as _is__autograph
from weft.lib.data.dataset import Dataset as Dataset
from weft.lib.data.dataset_spec import DatasetSpec as DatasetSpec
from weft.lib.data.iterator import Iterator as Iterator
from weft.lib.data.make_iterator import get_output_classes as get_output_classes
from weft.lib.data.make_iterator import get_output_shapes as get_output_shapes
from weft.lib.data.make_iterator import get_output_types as get_output_types
from weft.lib.data.make_iterator import make_initializable_iterator as make_initializable_iterator
from weft.lib.data.make_iterator import make_one_shot_iterator as make_one_shot_iterator
from weft.lib.data.options import Options as Options
from weft.lib.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from weft.lib.data.readers import TextLineDataset as TextLineDataset
from weft.lib.data.readers import TFRecordDataset as TFRecordDataset
from weft.api.data import experimental as experimental
_autograph = _is__autograph
