"""Parts of targets: their size, threads and kills change no result."""

import json

import numpy as np
import pytest
from small_refereed import TARGETS, pipeline

from pipeline.refereed import PAIRS, read_columns
from pipeline.stages.referee import target_parts
from pipeline.stages.referee.target_parts import joined_pairs


def result(made):
    found = made.run("referee")
    return json.loads((found.folder / "manifest.json").read_text())["summary"], read_columns(found.folder / PAIRS)


def close(first, second):
    """Figures are rounded in the manifest; sums over parts may differ in the last digit."""
    for one, other in zip(first["methods"], second["methods"], strict=True):
        assert one["verdicts"] == other["verdicts"]
        assert one["lds"] == pytest.approx(other["lds"], abs=2e-6)
        assert one["r2"] == pytest.approx(other["r2"], abs=2e-6)


def test_smaller_parts_and_threads_change_nothing(source, store, tmp_path, monkeypatch):
    whole, pairs = result(pipeline(source, store))
    monkeypatch.setattr(target_parts, "PART_BYTES", 1)
    again, same = result(pipeline(source, tmp_path, threads=2))
    close(whole, again)
    for name, column in pairs.items():
        np.testing.assert_array_equal(same[name], column)


def test_a_killed_run_goes_on_with_what_it_had(source, store, tmp_path, monkeypatch):
    monkeypatch.setattr(target_parts, "PART_BYTES", 1)
    asked = []
    claims_on = target_parts.claims_on

    def stopping(scores, **options):
        if len(asked) == 4:
            raise KeyboardInterrupt
        asked.append(options["target"])
        return claims_on(scores, **options)

    monkeypatch.setattr(target_parts, "claims_on", stopping)
    with pytest.raises(KeyboardInterrupt):
        pipeline(source, tmp_path).run("referee")
    assert len(list(tmp_path.rglob("targets-*.npz"))) == 4
    rest = []
    monkeypatch.setattr(target_parts, "claims_on", lambda s, **o: rest.append(o["target"]) or claims_on(s, **o))
    again, _ = result(pipeline(source, tmp_path))
    assert rest == list(range(4, TARGETS))
    close(result(pipeline(source, store))[0], again)
    assert not list(tmp_path.rglob("targets-*.npz"))


def test_lds_is_of_fewer_targets_where_it_would_take_too_long(source, tmp_path, monkeypatch):
    monkeypatch.setattr(target_parts, "MOST_RANKED", 3 * 500 * 400)
    summary, _ = result(pipeline(source, tmp_path))
    assert summary["n_predicted"] == 3
    assert summary["n_targets"] == TARGETS


def test_no_pair_at_all_is_a_table_of_nothing():
    found = joined_pairs([{"silent": np.array([15, 15])}], 2)
    assert found["claim"].shape == (0, 2)
    assert found["pairs"].shape == (0, 2)
    assert found["pvalue"].shape == (0,)
