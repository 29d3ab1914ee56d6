# Written by `make stubs` from weft/api/keras/preprocessing/sequence.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.preprocessing.sequence import make_sampling_table as make_sampling_table
from weft.lib.keras.preprocessing.sequence import pad_sequences as pad_sequences
from weft.lib.keras.preprocessing.sequence import skipgrams as skipgrams
from weft.lib.keras.preprocessing.sequence import timeseries_generator_from_json as timeseries_generator_from_json
from weft.lib.keras.preprocessing.sequence import TimeseriesGenerator as TimeseriesGenerator
