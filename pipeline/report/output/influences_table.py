"""atlas.csv and the entry "atlas" of report.json: the influences of single images on the targets shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.images.item_names import ItemNames
from pipeline.report.content import Influences
from pipeline.report.content.influences import Influential, Single, TargetInfluences
from pipeline.text.csv_text import write_csv


def write_influences(path: Path, influences: Influences, names: ItemNames) -> None:
    """One line for each finding of the targets shown, and for each image shown though it is none."""
    listed = [single for target in influences.targets for single in target.listed]
    header = (*COLUMNS, *_name_columns(names))
    write_csv(path, header, (values_of_single(single, names).values() for single in listed))


def values_of_single(single: Single, names: ItemNames) -> dict[str, Any]:
    """Column → value, names last, if there are any. low_selected, high_selected: the longer interval of a finding."""
    rank = single.rank
    own = {"name_target": names.of("target", single.target), "name_image": names.of("train", single.image)}
    return {
        "target": single.target,
        "class_target": single.class_target,
        "image": single.image,
        "class_image": single.class_image,
        "theta": single.theta,
        "estimate": single.effect,
        "low": single.effect_low,
        "high": single.effect_high,
        "standard_error": single.effect_se,
        "pvalue": single.pvalue,
        "finding": single.finding,
        "low_selected": single.effect_low_selected,
        "high_selected": single.effect_high_selected,
        "rank": None if rank is None else rank.rank,
        "rank_low": None if rank is None else rank.low,
        "rank_high": None if rank is None else rank.high,
        **{column: own[column] for column in _name_columns(names)},
    }


def _name_columns(names: ItemNames) -> tuple[str, ...]:
    return names.columns(train=("name_image",), targets=("name_target",))


COLUMNS = tuple(values_of_single(Single(0, 0, "", "", 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, False), ItemNames()))


def influences_json(influences: Influences, names: ItemNames) -> dict[str, Any]:
    """The counts, the targets shown and the most influential images; every finding of these targets is in atlas.csv."""
    lists = {"raising": influences.raising, "lowering": influences.lowering, "doubtful": influences.doubtful}
    counts = ("family", "family_size", "n_models", "n_train", "n_targets", "n_tests", "n_found", "n_nonzero", "n_stand")
    return {
        **{name: getattr(influences, name) for name in (*counts, "n_unknown", "n_moving", "warning")},
        "targets": [_target(target, names) for target in influences.targets],
        "most_influential": {name: [_image(image, names) for image in images] for name, images in lists.items()},
    }


def _target(target: TargetInfluences, names: ItemNames) -> dict[str, Any]:
    return {
        "target": target.target,
        "class_target": target.class_target,
        "n_found": len(target.findings),
        "n_nonzero": target.n_nonzero,
        "n_stand": target.n_stand,
        "family_found": target.family_found,
        "selected_confidence": target.level,
        "helpers": [values_of_single(single, names) for single in target.helpers],
        "hurters": [values_of_single(single, names) for single in target.hurters],
    }


def _image(image: Influential, names: ItemNames) -> dict[str, Any]:
    own = {"name_image": names.of("train", image.image)} if names.train else {}
    return {**vars(image), **own, "strongest": [values_of_single(single, names) for single in image.strongest]}
