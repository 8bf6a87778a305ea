"""Folders of one's own, from a planted law: 600 models of 40 images, 5 targets, in any of the forms of masks."""

import json

import numpy as np

N_MODELS, N_TRAIN, N_TARGETS = 600, 40, 5
FIXED, RAGGED = "fixed", "ragged"


def law(sizes=FIXED, seed=0):
    """(masks, outcomes): half of the images in every mask, or a coin for each; image k has influence only if k < 10."""
    rng = np.random.default_rng([20, seed])
    masks = rng.random((N_MODELS, N_TRAIN)) < 0.5
    if sizes == FIXED:
        masks = rng.random((N_MODELS, N_TRAIN)).argsort(axis=1) < N_TRAIN // 2
    weight = np.where(np.arange(N_TRAIN)[:, None] < 10, rng.choice([-1.0, 1.0], (N_TRAIN, N_TARGETS)), 0.0)
    return masks, masks @ weight + rng.standard_normal((N_MODELS, N_TARGETS))


def write(folder, outcomes, said=None, **arrays):
    """The arrays by name, outcomes.npy, and subsets.json if something is said."""
    folder.mkdir(parents=True)
    for name, array in {"outcomes": outcomes, **arrays}.items():
        if array is not None:
            np.save(folder / f"{name}.npy", array)
    if said is not None:
        (folder / "subsets.json").write_text(json.dumps(said), encoding="utf-8")
    return folder


def lists_of(masks):
    """(indices, indptr) of the images in each mask, in an order that means nothing."""
    rng = np.random.default_rng(1)
    lists = [rng.permutation(np.flatnonzero(mask)) for mask in masks]
    return np.concatenate(lists), np.cumsum([0, *map(len, lists)])


def rectangle(masks):
    """(models, k) images in each mask."""
    return lists_of(masks)[0].reshape(len(masks), -1)


def forms(sizes):
    """Name → (what subsets.json says, arrays) of one and the same masks."""
    masks, _ = law(sizes)
    n_train = {"n_train": N_TRAIN}
    found = {
        "bool": (n_train, {"masks": masks}),
        "float": (n_train, {"masks": masks.astype(np.float64)}),
        "int8": (n_train, {"masks": masks.astype(np.int8)}),
        "packed": (n_train, {"masks": np.packbits(masks, axis=1)}),
        "lists": (n_train, dict(zip(("indices", "indptr"), lists_of(masks), strict=True))),
        "left out": ({**n_train, "lists": "excluded"}, dict(zip(("indices", "indptr"), lists_of(~masks), strict=True))),
    }
    if sizes == FIXED:
        found["rows of lists"] = ({**n_train, "lists": "included"}, {"indices": rectangle(masks).astype(np.uint16)})
        found["rows left out"] = ({**n_train, "lists": "excluded"}, {"indices": rectangle(~masks).astype(np.int32)})
    return found
