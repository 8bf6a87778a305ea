"""Twenty training images and five targets of four classes, to be found by number or by class and position."""

import numpy as np

from pipeline.images.image_set import Labels
from pipeline.stages.test.image_references import ImageFinder

NAMES = ("cat", "dog", "great white shark", "7")
LABELS = Labels(np.array([0, 1, 2, 3] * 5), np.array([3, 2, 1, 0, 1]), NAMES)
TRAIN, TARGETS = ImageFinder.of_train(20, LABELS), ImageFinder.of_targets(5, LABELS)
