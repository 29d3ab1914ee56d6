"""tf.keras.preprocessing.sequence: public names, re-exported from where they are made."""

from weft.lib.keras.preprocessing.sequence import (
    make_sampling_table as make_sampling_table,
    pad_sequences as pad_sequences,
    skipgrams as skipgrams,
    timeseries_generator_from_json as timeseries_generator_from_json,
    TimeseriesGenerator as TimeseriesGenerator,
)
