"""The functions that converted code calls, by the name `ag__`."""

from weft.lib.autograph.builtin_functions import assert_stmt as assert_stmt
from weft.lib.autograph.calls import converted_call as converted_call
from weft.lib.autograph.compile import mark_done as autograph_artifact  # noqa: F401
from weft.lib.autograph.conditionals import and_ as and_
from weft.lib.autograph.conditionals import compare as compare
from weft.lib.autograph.conditionals import if_exp as if_exp
from weft.lib.autograph.conditionals import if_stmt as if_stmt
from weft.lib.autograph.conditionals import not_ as not_
from weft.lib.autograph.conditionals import or_ as or_
from weft.lib.autograph.lists import list_append as list_append
from weft.lib.autograph.lists import list_pop as list_pop
from weft.lib.autograph.lists import set_item as set_item
from weft.lib.autograph.loops import for_stmt as for_stmt
from weft.lib.autograph.loops import while_stmt as while_stmt
from weft.lib.autograph.values import NOTHING_RETURNED as NOTHING_RETURNED
from weft.lib.autograph.values import Undefined as Undefined
from weft.lib.autograph.values import ld as ld
from weft.lib.autograph.values import part as part
from weft.lib.autograph.values import returned as returned
from weft.lib.autograph.values import set_part as set_part
from weft.lib.autograph.values import variable as variable
