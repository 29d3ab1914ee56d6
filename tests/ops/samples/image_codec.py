"""Samples of weft/ops/image/decode.py: the files of `tests/ops/data/images`.

`tests/parity/make_images.py` has made them.
"""

from pathlib import Path

import numpy as np

from tests.ops.sample import Sample, i32, s, skip, u8

FOLDER = Path(__file__).parents[1] / "data" / "images"


def file(name: str) -> np.ndarray:
    return s((FOLDER / name).read_bytes())


EXACT = {"dct_method": "INTEGER_ACCURATE"}
PNGS = sorted(path.name for path in FOLDER.glob("*.png"))
JPEGS = sorted(path.name for path in FOLDER.glob("*.jpg"))
PHOTO = u8((np.arange(12 * 10 * 3) * 7) % 256, (12, 10, 3))

SAMPLES = [
    *(Sample("DecodePng", file(name), channels=n) for name in PNGS for n in (0, 1, 3, 4)),
    *(Sample("DecodePng", file(name), dtype="uint16") for name in PNGS),
    Sample("DecodePng", file("still.gif")),
    Sample("DecodePng", file("rgb.png"), channels=2),
    Sample("DecodePng", s(b"\x89PNG\r\n\x1a\nno")),
    Sample("DecodePng", s(b"nothing\x00\xff'")),
    Sample("DecodePng", s(b"")),
    Sample("DecodePng", s([b"a"])),
    *(Sample("DecodeJpeg", file(name), channels=n, **EXACT) for name in JPEGS for n in (0, 1, 3)),
    *(Sample("DecodeJpeg", file("full.jpg"), ratio=n, **EXACT) for n in (2, 4, 8)),
    Sample("DecodeJpeg", file("rgb.png")),
    Sample("DecodeJpeg", file("animation.gif")),
    Sample("DecodeJpeg", file("full.jpg"), channels=4),
    Sample("DecodeJpeg", file("full.jpg"), ratio=3),
    Sample("DecodeJpeg", file("full.jpg"), dct_method="SLOW"),
    Sample("DecodeJpeg", s((FOLDER / "full.jpg").read_bytes()[:-300])),
    Sample("DecodeAndCropJpeg", file("full.jpg"), i32([3, 4, 10, 12]), **EXACT),
    Sample("DecodeAndCropJpeg", file("full.jpg"), i32([3, 4, 10, 99]), **EXACT),
    *(Sample("DecodeGif", file(name)) for name in ("animation.gif", "still.gif", "rgb.png")),
    Sample("DecodeGif", s(b"GIF89aabc")),
    *(Sample("DecodeBmp", file(f"{name}.bmp")) for name in ("rgb", "rgba", "gray")),
    Sample("DecodeBmp", s((FOLDER / "rgb.bmp").read_bytes()[:-20])),
    Sample("DecodeBmp", s(b"BM")),
    *(Sample("ExtractJpegShape", file(name)) for name in JPEGS),
    Sample("ExtractJpegShape", file("photo.jpg"), output_type="int64"),
    Sample("ExtractJpegShape", s(b"abc")),
    Sample("EncodeJpeg", u8([[1, 2]])),
    Sample("EncodeJpeg", u8([1, 2], (1, 1, 2))),
    Sample("EncodeJpeg", u8([1], (1, 1, 1)), format="rgb"),
    Sample("EncodeJpeg", u8([1], (1, 1, 1)), quality=101),
    Sample("EncodeJpegVariableQuality", u8([1, 2], (1, 1, 2)), i32(3)),
    Sample("EncodePng", u8([1] * 5, (1, 1, 5))),
    Sample("EncodePng", u8([1], (1, 1, 1)), compression=10),
    skip("EncodePng", "other bytes for the same pixels: tests/ops/image/test_image_codec.py"),
    *(
        Sample("EncodeJpeg", PHOTO, **attrs)
        for attrs in (
            {},
            {"quality": 0},
            {"progressive": True},
            {"optimize_size": True},
            {"chroma_downsampling": False},
            {"density_unit": "cm", "x_density": 12},
            {"xmp_metadata": "abc"},
        )
    ),
    Sample("EncodeJpeg", PHOTO[..., :1], quality=50, format="grayscale"),
    Sample("EncodeJpegVariableQuality", PHOTO, i32(20)),
]
