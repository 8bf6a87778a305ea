"""Every reader of files and answers that others make: a small valid seed of each, and how it is called."""

import hashlib
import io
import json
import os
import pickle
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hostile_answers import make_http, make_s3, read_http, read_s3

ROOT = Path(__file__).parents[2]
N_MODELS, N_TRAIN, N_TARGETS = 40, 16, 3
MARKER = "ran"
"""The file that a hostile pickle would make, beside the folder that is read."""


@dataclass
class Reader:
    """make: writes the seed into a folder. read: reads that folder. files: patterns of what is made wrong. refused: the
    seed itself must be."""

    make: object
    read: object
    files: tuple = ("*",)
    refused: bool = False


def rng():
    return np.random.default_rng(23)


def masks():
    return rng().random((N_MODELS, N_TRAIN)).argsort(axis=1) < N_TRAIN // 2


def outcomes(kind=np.float32):
    return rng().standard_normal((N_MODELS, N_TARGETS)).astype(kind)


def all_rows(opened):
    rows = np.arange(opened.masks.n_models)
    return opened.masks.bits(rows), opened.outcomes.values(rows[:1000])


def images():
    from pipeline.images.image_set import ImageSet

    r = rng()
    parts = [(r.integers(0, 256, (n, 4, 4, 3)).astype(np.uint8), np.arange(n) % 2) for n in (N_TRAIN, N_TARGETS)]
    return ImageSet(*parts[0], *parts[1], ("cat", "dog"))


# Folders of masks and outcomes.


def make_own(folder):
    said = {
        "n_train": N_TRAIN, "outcome": "loss", "seeds": list(range(N_MODELS)), "class_names": ["a", "b"],
        "train_labels": [k % 2 for k in range(N_TRAIN)], "target_labels": [0, 1, 0],
        "train_names": [f"image {k}" for k in range(N_TRAIN)],
    }  # fmt: skip
    np.save(folder / "outcomes.npy", outcomes(np.float64))
    np.save(folder / "masks.npy", np.packbits(masks(), axis=1))
    np.save(folder / "_completed.npy", np.ones(N_MODELS, bool))
    (folder / "subsets.json").write_text(json.dumps(said, indent=1), encoding="utf-8")


def make_lists(folder):
    np.save(folder / "outcomes.npy", outcomes())
    lists = [np.flatnonzero(mask)[: 3 + k % 5] for k, mask in enumerate(masks())]
    np.save(folder / "indices.npy", np.concatenate(lists))
    np.save(folder / "indptr.npy", np.cumsum([0, *map(len, lists)]))
    images().save(folder / "images.npz")


def read_own(folder):
    from pipeline.sources.layouts.own_folder import OwnFolder

    own = OwnFolder(folder)
    own.content()
    own.labelled()
    return all_rows(own.open())


def make_released(folder):
    np.save(folder / "masks.npy", masks())
    np.save(folder / "margins.npy", outcomes(np.float16))
    np.save(folder / "_completed.npy", np.ones(N_MODELS, np.uint8))


def read_released(folder):
    from pipeline.sources.array_files import Files, open_files

    names = folder / "masks.npy", folder / "margins.npy"
    return all_rows(open_files(Files(*names, None, None, completed=folder / "_completed.npy", nan_rows=True)))


def make_trained(folder):
    from small_features import FEATURES

    from pipeline.store.files import save_arrays

    job = json.loads((ROOT / "pipeline/embedded/cifar10-study/manifest.json").read_text(encoding="utf-8"))["job"]
    job |= {"n_train": N_TRAIN, "n_targets": N_TARGETS, "n_models": N_MODELS}
    np.save(folder / "masks.npy", np.packbits(masks(), axis=1))
    multiples = rng().integers(-99, 99, (N_TARGETS, N_MODELS)).astype(np.int8)
    save_arrays(folder / "margins.npz", {"multiples": multiples}, compress=True)
    FEATURES.save(folder / "features.npz")
    digest = hashlib.sha256((folder / "features.npz").read_bytes()).hexdigest()
    manifest = {"format": "datamodels-inf source 1", "job": job, "sha256": {"features.npz": digest}}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def read_trained(folder):
    from pipeline.config_files import load_config
    from pipeline.sources.array_files import open_files
    from pipeline.sources.trained import content_of_files, trained_files
    from pipeline.training.inputs import Features
    from pipeline.training.trained_set import TrainedSet

    files = trained_files(folder, None)
    content_of_files(files)
    Features.load(folder / "features.npz")
    all_rows(open_files(files))
    return TrainedSet.of(load_config("digits", ["source.kind=files", f"source.folder={folder}"]), "this")


# Images and labels.


def read_images(folder):
    from pipeline.images.image_set import ImageSet, Labels

    Labels.load(folder / "images.npz")
    return ImageSet.load(folder / "images.npz")


def read_labels(folder):
    from pipeline.images.image_set import Labels

    return Labels.load(folder / "labels.npz")


def read_features(folder):
    from pipeline.training.inputs import Features

    return Features.load(folder / "features.npz").inputs


def make_features(folder):
    from small_features import FEATURES

    FEATURES.save(folder / "features.npz")


def cifar_pictures(n=2):
    r = rng()
    return r.integers(0, 256, (n, 32, 32, 3)).astype(np.uint8), r.integers(0, 10, n)


BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")


def make_pickles(folder):
    from python2_batches import planar, python2_batch

    pictures, labels = cifar_pictures()
    for k, name in enumerate(BATCHES):
        rows = np.ascontiguousarray(planar(pictures))
        plain = {"data": rows, "labels": labels.tolist()}
        made = python2_batch(rows, labels) if k < 2 else pickle.dumps(plain, protocol=min(k, 4))
        (folder / name).write_bytes(made)
    names = {"label_names": [f"class {k}" for k in range(10)]}
    (folder / "batches.meta").write_bytes(pickle.dumps(names, protocol=2))


class Hostile:
    """Where an ordinary unpickler reads it, a file appears."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def make_hostile_pickles(folder):
    make_pickles(folder)
    for k, name in enumerate(("data_batch_1", "data_batch_3", "test_batch")):
        hostile = {"data": Hostile(folder.parent / MARKER), "labels": [0]}
        (folder / name).write_bytes(pickle.dumps(hostile, protocol=2 * k))


def make_sheets(folder):
    from PIL import Image

    pictures, labels = cifar_pictures()
    for name in BATCHES:
        Image.fromarray(pictures.reshape(2, 1024, 3)).save(folder / f"{name}.png", "PNG")
    (folder / "train_lables.json").write_text(json.dumps(labels.tolist() * 5), encoding="utf-8")
    (folder / "test_lables.json").write_text(json.dumps(labels.tolist()), encoding="utf-8")


def read_cifar(folder):
    from pipeline.images.image_set import load_cifar10

    return load_cifar10(folder)


def make_archive(folder):
    import tarfile

    source = folder / "made"
    source.mkdir()
    make_pickles(source)
    with tarfile.open(folder / "cifar-10-python.tar.gz", "w:gz", compresslevel=0) as tar:
        for name in (*BATCHES, "batches.meta"):
            tar.add(source / name, f"cifar-10-batches-py/{name}")
    shutil.rmtree(source)


def read_archive(folder):
    """As if the digest of whatever it is were the right one."""
    from pipeline.images.image_set import load_cifar10

    file = folder / "cifar-10-python.tar.gz"
    return load_cifar10(file, md5=hashlib.md5(file.read_bytes()).hexdigest())


# Scores and weights.


def weights():
    return rng().standard_normal((N_TRAIN, N_TARGETS)).astype(np.float32)


def make_scores(folder):
    import torch
    from safetensors.torch import save_file

    parts = {"weight": weights(), "bias": np.zeros(N_TARGETS, np.float32), "lam": np.ones(N_TARGETS, np.float32)}
    tensors = {name: torch.tensor(value) for name, value in parts.items()}
    np.save(folder / "a.npy", weights())
    np.savez(folder / "a.npz", **parts)
    np.savez_compressed(folder / "b.npz", weights())
    torch.save(tensors, folder / "a.pt")
    torch.save(tensors["weight"].T, folder / "old.pt", _use_new_zipfile_serialization=False)
    save_file({"all_modules": tensors["weight"].T.contiguous()}, folder / "a.safetensors")


def make_hostile_scores(folder):
    """The ordinary ones, but torch's with a pickle that would run."""
    make_scores(folder)
    hostile = pickle.dumps({"weight": Hostile(folder.parent / MARKER)}, protocol=2)
    stream = io.BytesIO()
    with zipfile.ZipFile(folder / "a.pt") as old, zipfile.ZipFile(stream, "w") as new:
        for entry in old.infolist():
            new.writestr(entry, hostile if entry.filename.endswith("data.pkl") else old.read(entry))
    (folder / "a.pt").write_bytes(stream.getvalue())
    (folder / "old.pt").write_bytes(hostile * 4)


def read_each_score(folder, name):
    from pipeline.score_files import read_scores, score_content

    score_content(folder / name, "fit.file")
    return np.array(read_scores(folder / name, N_TRAIN, N_TARGETS).weight)


def make_records(folder):
    made = ROOT / "tests/pipeline/score_files/made_by_tools/bergson-float32"
    for path in made.iterdir():
        shutil.copy(path, folder / path.name)


def read_records(folder):
    from pipeline.errors import BadInputError

    info = json.loads((ROOT / "tests/pipeline/score_files/made_by_tools/bergson-float32/info.json").read_text())
    try:
        return read_each_score(folder, "scores.bin")
    except BadInputError as error:
        if "must have shape" in str(error):  # Its own is another one than ours here.
            return info
        raise


def read_tensors(folder):
    from pipeline.sources.layouts.dattri import read_tensor, turned_back

    read_tensor(folder / "indices_lds.pt")
    return turned_back(folder / "target_values_lds.pt")


def copied(*names):
    def make(folder):
        for name in names:
            source = ROOT / "tests/fixtures/other_tools" / name
            if source.is_dir():
                shutil.copytree(source, folder, dirs_exist_ok=True)
            else:
                shutil.copy(source, folder / source.name)

    return make


def imported(name):
    def read(folder):
        from pipeline.sources.imports import IMPORTERS

        return IMPORTERS[name].read(folder)

    return read


# Settings and lists.


def make_config(folder):
    text = (ROOT / "configs/digits.toml").read_text(encoding="utf-8")
    more = '\n[robustness]\ntop = 2\n[verify]\npair = ["dog:1", 3]\ntarget = 1\n[referee]\nscores = ["a=b.npy"]\n'
    (folder / "study.toml").write_text(text if "[verify]" in text else text + more, encoding="utf-8")


def read_config(folder):
    from pipeline.config_files import load_config, to_toml

    return to_toml(load_config(str(folder / "study.toml"), []))


def make_override(folder):
    lines = [
        "fit.targets=[0,3]",
        "test.alpha=0.1",
        'source.mirrors=["http://a/b"]',
        'cluster.slurm={cores = 1, memory = "1"}',
    ]
    for k, line in enumerate(lines):
        (folder / f"{k}.txt").write_text(line, encoding="utf-8")


def read_override(folder):
    from pipeline.config_files import load_config, to_toml

    lines = [path.read_bytes().decode("utf-8", "surrogateescape") for path in sorted(folder.iterdir())]
    return to_toml(load_config("digits", lines))


def make_list(folder):
    (folder / "pairs.csv").write_text(
        "i,j,target\n3,9,1\ncat:1,dog:2,0\n3 7,12 cat:2,2\nimage 5,1,0\n", encoding="utf-8"
    )


def finders():
    from pipeline.stages.test.image_references import ImageFinder

    names = tuple(f"image {k}" for k in range(N_TRAIN))
    train = ImageFinder("training image", N_TRAIN, np.arange(N_TRAIN) % 2, ("cat", "dog"), names)
    return train, ImageFinder("target", N_TARGETS, np.arange(N_TARGETS) % 2, ("cat", "dog"))


def read_list(folder):
    from pipeline.stages.test.pair_list import find_targets, read_pairs, target_texts

    train, targets = finders()
    target_texts(folder / "pairs.csv")
    find_targets(folder / "pairs.csv", targets)
    return read_pairs(folder / "pairs.csv", train, targets)


def read_embeddings(folder):
    from pipeline.stages.robustness.look_alikes import _embeddings

    return _embeddings(folder / "e.npy", N_TRAIN)


def make_names(folder):
    from pipeline.images.item_names import ItemNames

    ItemNames(("a", "b"), ("c",)).save(folder / "names.json")


def read_names(folder):
    from pipeline.images.item_names import ItemNames

    return ItemNames.load(folder / "names.json")


def make_published(folder):
    from pipeline.config_files import load_config, to_toml

    report = {"configuration": to_toml(load_config("digits", [])), "provenance": {"Command": "datamodels-inf run"}}
    (folder / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    (folder / "index.html").write_text("<p>", encoding="utf-8")
    (folder / ".files").write_text("index.html\nreport.json\n", encoding="utf-8")


def read_published(folder):
    from pipeline.config_files import load_config
    from pipeline.published import _replaced
    from pipeline.store.listed_files import blocked, listed_files

    listed_files(folder)
    blocked(folder)
    return _replaced(folder, load_config("digits", []), "datamodels-inf run")


READERS = {
    "answers of HTTP": Reader(make_http, read_http),
    "answers of S3": Reader(make_s3, read_s3),
    "own folder": Reader(make_own, read_own),
    "own lists": Reader(make_lists, read_own),
    "released arrays": Reader(make_released, read_released),
    "trained set": Reader(make_trained, read_trained),
    "images": Reader(lambda folder: images().save(folder / "images.npz"), read_images),
    "labels": Reader(lambda folder: images().labels.save(folder / "labels.npz"), read_labels),
    "features": Reader(make_features, read_features),
    "CIFAR-10 pickles": Reader(make_pickles, read_cifar),
    "CIFAR-10 pickles that would run": Reader(make_hostile_pickles, read_cifar, refused=True),
    "CIFAR-10 sheets": Reader(make_sheets, read_cifar),
    "CIFAR-10 archive": Reader(make_archive, read_archive),
    **{
        f"scores {name}": Reader(make_scores, lambda folder, name=name: read_each_score(folder, name), (name,))
        for name in ("a.npy", "a.npz", "b.npz", "a.pt", "old.pt", "a.safetensors")
    },
    **{
        f"scores {name} that would run": Reader(
            make_hostile_scores, lambda folder, name=name: read_each_score(folder, name), (name,), refused=True
        )
        for name in ("a.pt", "old.pt")
    },
    "scores of Bergson's": Reader(make_records, read_records),
    "tensors of dattri's": Reader(copied("dattri/indices_lds.pt", "dattri/target_values_lds.pt"), read_tensors),
    "subsets of dattri's": Reader(copied("dattri/retrain"), imported("dattri")),
    "subsets of Bergson's": Reader(copied("bergson/overlapping"), imported("bergson")),
    "subsets of quanda's": Reader(copied("quanda/subset_ids.yaml"), imported("quanda")),
    "configuration": Reader(make_config, read_config),
    "--set": Reader(make_override, read_override),
    "list of pairs": Reader(make_list, read_list),
    "embeddings": Reader(lambda folder: np.save(folder / "e.npy", weights()), read_embeddings),
    "names": Reader(make_names, read_names),
    "published report": Reader(make_published, read_published, ("report.json", ".files")),
}
