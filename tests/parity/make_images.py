"""Writes the small image files of `tests/ops/data/images` that the samples decode.

    .venv/bin/python -m tests.parity.make_images

They are kept, since another version of Pillow may write other bytes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from weft.ops.image import png16 as image_png16

FOLDER = Path(__file__).parents[1] / "ops" / "data" / "images"


def pixels(height: int, width: int, channels: int, top: int = 255) -> np.ndarray:
    """Smooth, and different in every channel."""
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    wave = np.sin(0.5 * y + 0.3 * c) * np.cos(0.4 * x - c) * 0.5 + 0.5
    return np.round(wave * top).astype(np.uint16 if top > 255 else np.uint8)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    gray, rgb = pixels(6, 5, 1)[..., 0], pixels(6, 5, 3)
    images = {
        "gray": Image.fromarray(gray),
        "gray_alpha": Image.fromarray(pixels(6, 5, 2)),
        "rgb": Image.fromarray(rgb),
        "rgba": Image.fromarray(pixels(6, 5, 4)),
        "bits": Image.fromarray(gray).convert("1"),
        "palette": Image.fromarray(rgb).quantize(7),
    }
    for name, image in images.items():
        image.save(FOLDER / f"{name}.png")
    images["palette"].save(FOLDER / "palette_clear.png", transparency=2)
    images["gray"].save(FOLDER / "gray_clear.png", transparency=int(gray[0, 0]))
    for channels in (1, 2, 3, 4):
        file = image_png16.write(pixels(6, 5, channels, 65535), 6)
        (FOLDER / f"wide_{channels}.png").write_bytes(file)
    photo = Image.fromarray(pixels(19, 21, 3))
    photo.save(FOLDER / "photo.jpg", quality=90)
    photo.save(FOLDER / "full.jpg", quality=90, subsampling=0)
    photo.save(FOLDER / "progressive.jpg", quality=80, progressive=True)
    photo.convert("L").save(FOLDER / "gray.jpg", quality=85)
    photo.convert("CMYK").save(FOLDER / "cmyk.jpg", quality=85)
    frames = [Image.fromarray(pixels(6, 5, 3)), Image.fromarray(pixels(6, 5, 3)[::-1].copy())]
    frames[1].paste(frames[0].crop((0, 0, 5, 3)), (0, 0))
    frames[0].save(FOLDER / "animation.gif", save_all=True, append_images=frames[1:])
    frames[0].save(FOLDER / "still.gif")
    for name, image in (("rgb", frames[0]), ("gray", Image.fromarray(gray))):
        image.save(FOLDER / f"{name}.bmp")
    Image.fromarray(pixels(6, 5, 4)).save(FOLDER / "rgba.bmp")


if __name__ == "__main__":
    main()
