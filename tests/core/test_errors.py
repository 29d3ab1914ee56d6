import pickle
from types import SimpleNamespace

import pytest

from weft.core import errors

CLASSES = {
    errors.CANCELLED: errors.CancelledError,
    errors.UNKNOWN: errors.UnknownError,
    errors.INVALID_ARGUMENT: errors.InvalidArgumentError,
    errors.DEADLINE_EXCEEDED: errors.DeadlineExceededError,
    errors.NOT_FOUND: errors.NotFoundError,
    errors.ALREADY_EXISTS: errors.AlreadyExistsError,
    errors.PERMISSION_DENIED: errors.PermissionDeniedError,
    errors.RESOURCE_EXHAUSTED: errors.ResourceExhaustedError,
    errors.FAILED_PRECONDITION: errors.FailedPreconditionError,
    errors.ABORTED: errors.AbortedError,
    errors.OUT_OF_RANGE: errors.OutOfRangeError,
    errors.UNIMPLEMENTED: errors.UnimplementedError,
    errors.INTERNAL: errors.InternalError,
    errors.UNAVAILABLE: errors.UnavailableError,
    errors.DATA_LOSS: errors.DataLossError,
    errors.UNAUTHENTICATED: errors.UnauthenticatedError,
}


def op(name, *frames, original=None):
    return SimpleNamespace(name=name, traceback=list(frames), _original_op=original)


MAIN = ("/home/u/train.py", 10, "<module>", "main()")
MODEL = ("/home/u/model.py", 41, "build", "y = tf.matmul(a, b)")
INSIDE = (errors.__file__, 5, "matmul", "return raw.MatMul(a, b)")


def test_codes_are_one_to_sixteen():
    assert sorted(CLASSES) == list(range(1, 17)) and errors.OK == 0


@pytest.mark.parametrize(("code", "cls"), CLASSES.items())
def test_class_of_each_code(code, cls):
    assert errors.exception_type_from_error_code(code) is cls
    assert errors.error_code_from_exception_type(cls) == code
    error = errors.make_error("node", "op", "text", code)
    assert type(error) is cls and isinstance(error, errors.OpError)
    assert (error.node_def, error.op, error.message) == ("node", "op", "text")
    assert error.error_code == code


def test_unknown_codes_and_classes():
    error = errors.make_error(None, None, "odd", 37)
    assert type(error) is errors.UnknownError and error.error_code == 37
    with pytest.raises(KeyError):
        errors.exception_type_from_error_code(37)
    with pytest.warns(UserWarning, match="Unknown class exception"):
        assert errors.error_code_from_exception_type(ValueError) == errors.UNKNOWN


def test_text_without_op():
    error = errors.NotFoundError(None, None, "no such file")
    assert str(error) == "no such file" and repr(error) == "NotFoundError('no such file')"


def test_text_names_the_creation_site():
    text = str(errors.InvalidArgumentError(None, op("dense/MatMul", MAIN, MODEL), "bad shapes"))
    assert text.startswith("bad shapes\n\nOriginal stack trace for 'dense/MatMul':\n")
    assert 'File "/home/u/model.py", line 41, in build\n    y = tf.matmul(a, b)\n' in text


def test_text_of_a_derived_op():
    forward = op("MatMul", MAIN, MODEL)
    backward = op("gradients/MatMul_grad", MAIN, original=forward)
    text = str(errors.InvalidArgumentError(None, backward, "bad"))
    assert "for 'gradients/MatMul_grad'" in text
    assert "...which was made for op 'MatMul', created at:" in text
    assert "[1 outer lines, same as above, left out]" in text
    assert text.count("train.py") == 1 and text.count("model.py") == 1


def test_locate():
    assert errors.locate(op("x", MAIN, MODEL, INSIDE)) == "model.py:41"
    assert errors.locate(op("x", INSIDE)) == "errors.py:5"
    assert errors.locate(op("x")) == "<unknown>"


@pytest.mark.parametrize("cls", CLASSES.values())
def test_pickle(cls):
    error = pickle.loads(pickle.dumps(cls(None, None, "text")))
    assert type(error) is cls and error.message == "text"


def test_pickle_keeps_an_unusual_code_and_drops_the_op():
    unpicklable = op("x", original=lambda: None)
    error = pickle.loads(pickle.dumps(errors.OpError(None, unpicklable, "text", 42)))
    assert error.error_code == 42 and error.op is None


def test_errors_that_came_of_each_other_are_let_go() -> None:
    first, second = ValueError("a"), ValueError("b")
    for each, other in ((first, second), (second, first)):
        try:
            raise each
        except ValueError:
            each.__context__ = other
    assert first.__traceback__ is not None and second.__traceback__ is not None
    errors.let_go(first)
    assert first.__traceback__ is None and second.__traceback__ is None
