"""tf.quantization: public names, re-exported from where they are made."""

from weft.ops.quantize import (
    dequantize as dequantize,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_args as fake_quant_with_min_max_args,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars as fake_quant_with_min_max_vars,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from weft.ops.quantize import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from weft.ops.quantize import (
    quantize as quantize,
)
from weft.ops.quantize import (
    quantize_and_dequantize as quantize_and_dequantize,
)
