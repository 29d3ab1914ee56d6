"""Images from files and tables; what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.keras.preprocessing_cases import picture
from weft.lib.keras.preprocessing.image_generator import ImageDataGenerator
from weft.lib.keras.preprocessing.iterators import NumpyArrayIterator
from weft.lib.keras.preprocessing.pictures import array_to_img, img_to_array, load_img, save_img

pandas = pytest.importorskip("pandas")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes, of three and two images."""
    for name, count in (("cats", 3), ("dogs", 2)):
        (tmp_path / name / "deep").mkdir(parents=True)
        for i in range(count):
            place = tmp_path / name / "deep" if i == 2 else tmp_path / name
            save_img(place / f"{i}.png", picture() + i, scale=False)
    (tmp_path / "cats" / "notes.txt").write_text("no image")
    return tmp_path


def test_an_image_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    save_img(path, picture(), scale=False)
    np.testing.assert_array_equal(img_to_array(load_img(path)), picture())
    assert load_img(path, target_size=(3, 4)).size == (4, 3)
    assert img_to_array(load_img(path, color_mode="grayscale")).shape == (7, 5, 1)
    assert img_to_array(load_img(path, color_mode="rgba"), "channels_first").shape == (4, 7, 5)
    with pytest.raises(ValueError, match="color_mode must be"):
        load_img(path, color_mode="cmyk")
    with pytest.raises(ValueError, match="Invalid interpolation method"):
        load_img(path, target_size=(3, 3), interpolation="cubic")


def test_arrays_that_are_no_images() -> None:
    with pytest.raises(ValueError, match="rank 3"):
        array_to_img(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="Unsupported channel number: 2"):
        array_to_img(np.zeros((2, 2, 2)))
    assert array_to_img(np.full((2, 2, 1), 300.0), scale=False).mode == "I"


def test_classes_are_folders(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    batches = ImageDataGenerator().flow_from_directory(
        str(folder), target_size=(4, 6), batch_size=5, shuffle=False
    )
    assert capsys.readouterr().out == "Found 5 images belonging to 2 classes.\n"
    images, labels = next(batches)
    assert images.shape == (5, 4, 6, 3)
    np.testing.assert_array_equal(labels, [[1, 0]] * 3 + [[0, 1]] * 2)
    assert batches.filenames[2] == "cats/deep/2.png"
    assert batches.class_indices == {"cats": 0, "dogs": 1}


def test_a_part_of_the_files_is_for_validation(folder: Path) -> None:
    generator = ImageDataGenerator(validation_split=0.5)
    parts = [
        generator.flow_from_directory(str(folder), class_mode="sparse", subset=subset)
        for subset in ("training", "validation")
    ]
    assert [part.samples for part in parts] == [3, 2]
    assert parts[1].classes.tolist() == [0, 1]


def test_files_of_a_table(folder: Path) -> None:
    table = pandas.DataFrame(
        {
            "filename": ["cats/0.png", "dogs/0.png", "dogs/1.png", "none.png"],
            "class": ["cat", "dog", "dog", "dog"],
            "weight": [1.0, 2.0, 3.0, 4.0],
        }
    )
    generator = ImageDataGenerator(rescale=1 / 255)
    with pytest.warns(UserWarning, match="Found 1 invalid image filename"):
        batches = generator.flow_from_dataframe(
            table, str(folder), weight_col="weight", class_mode="binary", shuffle=False
        )
    images, labels, weights = batches[0]
    assert images.max() <= 1.0
    assert labels.tolist() == [0, 1, 1]
    assert weights.tolist() == [1, 2, 3]
    raw = generator.flow_from_dataframe(
        table[:3], str(folder), y_col="weight", class_mode="raw", shuffle=False
    )
    assert raw[0][1].tolist() == [1, 2, 3]


def test_tables_are_checked(folder: Path) -> None:
    table = pandas.DataFrame({"filename": ["cats/0.png"], "class": [3]})
    flow = ImageDataGenerator().flow_from_dataframe
    with pytest.raises(TypeError, match="must be type string, list or tuple"):
        flow(table, str(folder))
    with pytest.raises(ValueError, match="Invalid class_mode"):
        flow(table, str(folder), class_mode="x")
    table["class"] = ["a"]
    with pytest.raises(ValueError, match="there must be 2 classes"):
        flow(table, str(folder), class_mode="binary")


def test_what_was_made_can_be_saved(tmp_path: Path) -> None:
    images = np.stack([picture()] * 3)
    batches = ImageDataGenerator().flow(
        images, batch_size=2, save_to_dir=tmp_path, save_prefix="made", shuffle=False
    )
    assert next(batches).shape == (2, 7, 5, 3)
    assert len(list(tmp_path.glob("made_*.png"))) == 2


def test_other_inputs_come_along() -> None:
    images = np.stack([picture()] * 4)
    numbers = np.arange(4)
    generator = ImageDataGenerator(validation_split=0.5)
    batches = generator.flow((images, numbers), [0, 1, 0, 1], subset="training", shuffle=False)
    (_, others), labels = batches[0]
    assert others.tolist() == [2, 3]
    assert labels.tolist() == [0, 1]
    with pytest.raises(ValueError, match="Asked to retrieve element 1"):
        batches[1]


def test_arrays_are_checked() -> None:
    images = np.stack([picture()] * 4)
    with pytest.raises(ValueError, match="rank 4"):
        NumpyArrayIterator(images[0], None, ImageDataGenerator())
    with pytest.raises(ValueError, match=r"`y` \(labels\) should have the same length"):
        NumpyArrayIterator(images, [1], ImageDataGenerator())
    with pytest.raises(ValueError, match="different number of classes"):
        ImageDataGenerator(validation_split=0.5).flow(images, [0, 0, 1, 1], subset="training")
    with pytest.raises(ValueError, match="strictly between"):
        ImageDataGenerator(validation_split=2)
    with pytest.warns(UserWarning, match="overrides setting of `featurewise_center`"):
        ImageDataGenerator(featurewise_std_normalization=True)
    with pytest.warns(UserWarning, match="hasn't been fit"):
        ImageDataGenerator(featurewise_center=True).standardize(picture())


def test_ranges_may_be_numbers_of_numpy() -> None:
    made = ImageDataGenerator(zoom_range=np.float32(0.25))
    assert made.zoom_range == [0.75, 1.25]
