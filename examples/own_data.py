"""Which training digits matter for these test digits? Your own models and data, in 30 lines.

    python examples/own_data.py [FOLDER]

All that is needed are two arrays: which training items each model saw, and what each model gave on each target. Here
800 ridge classifiers learn to tell a 3 from an 8, each on a random half of 60 of scikit-learn's digits, and the outcome
is their margin on four digits that none of them was trained on. Printed are the models' accuracy, what the analysis
rests on with its strongest findings, and the training digit that hurts the first target most, with its error bar. With
FOLDER, the whole report is written there.

The same two arrays, saved as `masks.npy` and `outcomes.npy` in a folder, are what `datamodels-inf init` reads.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

from datamodels_inf import analyse

digits = load_digits()
chosen = np.flatnonzero(np.isin(digits.target, (3, 8)))[:64]
pixels, labels = digits.images[chosen].astype(np.uint8), digits.target[chosen]
x, sign = pixels.reshape(64, -1) / 16, np.where(labels == 8, 1.0, -1.0)
train, targets = slice(0, 60), slice(60, 64)

rng = np.random.default_rng(0)
masks = np.zeros((800, 60), dtype=bool)
margins = np.empty((800, 4))
for mask, margin in zip(masks, margins, strict=True):  # Yours: any training, on the items of its mask.
    mask[rng.choice(60, 30, replace=False)] = True
    model = Ridge().fit(x[train][mask], sign[train][mask])
    margin[:] = sign[targets] * model.predict(x[targets])

parts = {"labels": (labels[train], labels[targets]), "images": (pixels[train], pixels[targets])}
result = analyse(masks, margins, **parts, outcome="margin", method="contrast", alpha=0.1)
print(f"{100 * (margins > 0).mean():.0f} % of the models' answers are right")
print(result)
worst = result.influence(0).iloc[-1]
interval = f"95 % interval {worst['low']:.3f} to {worst['high']:.3f}"
print(f"hurts target 0 most: train {worst['image']}, class {worst['class_image']}, {worst['estimate']:.3f}, {interval}")
if len(sys.argv) > 1:
    print(f"report: {result.report(sys.argv[1])}")
