from tests.ops.sample import skip

SAMPLES = [
    skip("GetSessionHandle", "names a place in a session: see tests/client/test_tensor_handle.py"),
    skip("GetSessionHandleV2", "names a place in a session: tests/client/test_tensor_handle.py"),
    skip("GetSessionTensor", "reads a place in a session: see tests/client/test_tensor_handle.py"),
    skip("DeleteSessionTensor", "empties a place in a session: tests/client/test_tensor_handle.py"),
    skip("Timestamp", "says what time it is: see tests/client/test_tensor_handle.py"),
]
