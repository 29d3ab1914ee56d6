"""tf.contrib.specs: networks written as short expressions."""

from weft.lib.contrib.specs.composing import *  # noqa: F403
from weft.lib.contrib.specs.evaluation import LocalImport as LocalImport
from weft.lib.contrib.specs.evaluation import create_net as create_net
from weft.lib.contrib.specs.evaluation import create_net_fun as create_net_fun
from weft.lib.contrib.specs.evaluation import eval_params as eval_params
from weft.lib.contrib.specs.evaluation import eval_spec as eval_spec
from weft.lib.contrib.specs.evaluation import ops as ops
from weft.lib.contrib.specs.operations import *  # noqa: F403
from weft.lib.contrib.specs.parameters import Lf as Lf
from weft.lib.contrib.specs.parameters import Li as Li
from weft.lib.contrib.specs.parameters import Nt as Nt
from weft.lib.contrib.specs.parameters import Uf as Uf
from weft.lib.contrib.specs.parameters import Ui as Ui
from weft.lib.contrib.specs.pictures import tf_left_split as tf_left_split
from weft.lib.contrib.specs.pictures import tf_num_params as tf_num_params
from weft.lib.contrib.specs.pictures import tf_parameter_iter as tf_parameter_iter
from weft.lib.contrib.specs.pictures import tf_parameter_summary as tf_parameter_summary
from weft.lib.contrib.specs.pictures import tf_print as tf_print
from weft.lib.contrib.specs.pictures import tf_spec_print as tf_spec_print
from weft.lib.contrib.specs.pictures import tf_spec_structure as tf_spec_structure
from weft.lib.contrib.specs.pictures import tf_spec_summary as tf_spec_summary
from weft.lib.contrib.specs.pictures import tf_structure as tf_structure
