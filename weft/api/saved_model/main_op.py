"""tf.saved_model.main_op: public names, re-exported from where they are made."""

from weft.lib.saved_model.main_op import (
    main_op as main_op,
    main_op_with_restore as main_op_with_restore,
)
