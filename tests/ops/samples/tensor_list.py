"""Operations on lists of tensors and on optional values: they pass values that no array holds."""

from tests.ops.sample import skip

_LISTS = (
    "EmptyTensorList TensorListConcat TensorListConcatLists TensorListConcatV2"
    " TensorListElementShape TensorListFromTensor TensorListGather TensorListGetItem"
    " TensorListLength TensorListPopBack TensorListPushBack TensorListReserve TensorListResize"
    " TensorListScatter TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem"
    " TensorListSplit TensorListStack"
)
_OPTIONALS = "OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone"

SAMPLES = [
    *(
        skip(op, "takes or makes a list: see tests/ops/lists/test_tensor_list.py")
        for op in _LISTS.split()
    ),
    *(skip(op, "see tests/ops/lists/test_tensor_list.py") for op in _OPTIONALS.split()),
]
