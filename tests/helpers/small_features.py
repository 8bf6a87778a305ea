"""Features of six training images and four targets."""

import numpy as np

from pipeline.images.image_set import Labels
from pipeline.training.inputs import Features

RNG = np.random.default_rng(0)
LABELS = Labels(np.arange(6) % 3, np.arange(4) % 3, ("cat", "dog", "eel"))
FEATURES = Features(
    RNG.standard_normal((6, 5)).astype(np.float16),
    RNG.standard_normal((4, 5)).astype(np.float16),
    LABELS,
    np.array([3, 1, 4, 15, 9, 2]),
    np.array([6, 5, 3, 7]),
)
