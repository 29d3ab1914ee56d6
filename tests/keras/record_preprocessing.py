"""Records what keras_preprocessing 1.1.2, which TensorFlow 1.15.5 uses, makes of texts and images.

python -m tests.keras.record_preprocessing     (with TensorFlow 1.15, SciPy, Pillow and pandas)
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from tests.keras import preprocessing_cases as cases

RECORDED = Path(__file__).parent / "recorded" / "preprocessing.npz"


def main() -> None:
    import keras_preprocessing.image as image
    import keras_preprocessing.sequence as sequence
    import keras_preprocessing.text as text

    np.random.seed(0)
    random.seed(0)
    values = cases.results(text, sequence, image)
    np.savez_compressed(RECORDED, **values)


if __name__ == "__main__":
    main()
