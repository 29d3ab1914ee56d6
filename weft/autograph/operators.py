"""What converted code calls, by the name `ag__`."""

from weft.autograph.builtin_functions import assert_stmt as assert_stmt
from weft.autograph.calls import converted_call as converted_call
from weft.autograph.compile import mark_done as autograph_artifact  # noqa: F401
from weft.autograph.conditionals import and_ as and_
from weft.autograph.conditionals import compare as compare
from weft.autograph.conditionals import if_exp as if_exp
from weft.autograph.conditionals import if_stmt as if_stmt
from weft.autograph.conditionals import not_ as not_
from weft.autograph.conditionals import or_ as or_
from weft.autograph.lists import list_append as list_append
from weft.autograph.lists import list_pop as list_pop
from weft.autograph.lists import set_item as set_item
from weft.autograph.loops import for_stmt as for_stmt
from weft.autograph.loops import while_stmt as while_stmt
from weft.autograph.values import NOTHING_RETURNED as NOTHING_RETURNED
from weft.autograph.values import Undefined as Undefined
from weft.autograph.values import ld as ld
from weft.autograph.values import part as part
from weft.autograph.values import returned as returned
from weft.autograph.values import set_part as set_part
from weft.autograph.values import variable as variable
