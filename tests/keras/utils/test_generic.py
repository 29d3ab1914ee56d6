"""Objects as configurations: by name, by record, within scopes of custom objects."""

from __future__ import annotations

import pytest

from weft.lib.keras.utils import generic


class Thing:
    def __init__(self, size: int = 1) -> None:
        self.size = size

    def get_config(self) -> dict:
        return {"size": self.size}

    @classmethod
    def from_config(cls, config: dict) -> Thing:
        return cls(**config)


class Outer(Thing):
    @classmethod
    def from_config(cls, config: dict, custom_objects: dict | None = None) -> Outer:
        made = cls(**config)
        made.known = custom_objects
        return made


def double(x: int) -> int:
    return 2 * x


MODULE = {"Thing": Thing, "double": double}


def test_objects_go_there_and_back() -> None:
    record = generic.serialize_keras_object(Thing(3))
    assert record == {"class_name": "Thing", "config": {"size": 3}}
    assert generic.deserialize_keras_object(record, MODULE).size == 3
    assert generic.serialize_keras_object(double) == "double"
    assert generic.serialize_keras_object(None) is None
    assert generic.deserialize_keras_object(None) is None


def test_a_class_by_name_is_made_and_a_function_is_not_called() -> None:
    assert generic.deserialize_keras_object("Thing", MODULE).size == 1
    assert generic.deserialize_keras_object("double", MODULE) is double


def test_what_is_not_known_says_of_which_kind() -> None:
    with pytest.raises(ValueError, match=r"(?m)^Unknown loss:nothing$"):
        generic.deserialize_keras_object("nothing", MODULE, printable_module_name="loss")
    with pytest.raises(ValueError, match=r"^Unknown layer: Nothing$"):
        generic.deserialize_keras_object(
            {"class_name": "Nothing", "config": {}}, MODULE, printable_module_name="layer"
        )
    with pytest.raises(ValueError, match="Improper config format"):
        generic.deserialize_keras_object({"name": "x"}, MODULE)
    with pytest.raises(ValueError, match="Could not interpret serialized object: 3"):
        generic.deserialize_keras_object(3, MODULE)
    with pytest.raises(ValueError, match="Cannot serialize"):
        generic.serialize_keras_object(3)


def test_custom_objects_come_before_those_of_a_module() -> None:
    class Thing2(Thing):
        pass

    record = {"class_name": "Thing", "config": {}}
    assert isinstance(generic.deserialize_keras_object(record, MODULE, {"Thing": Thing2}), Thing2)
    with generic.custom_object_scope({"Thing": Thing2}, {"other": double}):
        assert isinstance(generic.deserialize_keras_object(record, MODULE), Thing2)
        generic.get_custom_objects()["more"] = double
    assert generic.get_custom_objects() == {}
    assert type(generic.deserialize_keras_object(record, MODULE)) is Thing


def test_from_config_is_told_of_custom_objects_if_it_wants() -> None:
    record = {"class_name": "Outer", "config": {"size": 2}}
    with generic.CustomObjectScope({"a": 1}):
        made = generic.deserialize_keras_object(record, {"Outer": Outer}, {"b": 2})
    assert made.size == 2
    assert made.known == {"a": 1, "b": 2}


def test_functions_as_text() -> None:
    factor = 3

    def scaled(x: int, offset: int = 4) -> int:
        return factor * x + offset

    dumped = generic.func_dump(scaled)
    loaded = generic.func_load(list(dumped))
    assert loaded(2) == 10
    assert loaded(2, 0) == 6
    assert generic.func_load(*generic.func_dump(double))(4) == 8


def test_arguments() -> None:
    assert generic.has_arg(double, "x")
    assert not generic.has_arg(double, "y")
    assert generic.has_arg(lambda **kw: None, "y", accept_all=True)
    assert generic.to_list(3) == [3]
