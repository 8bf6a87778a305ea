"""Curves and galleries of what is drawn, from the held-out models."""

import numpy as np

from pipeline.stages.report.decided import read_groups
from pipeline.stages.report.evidence import evidence, held_out_of, names_of
from pipeline.summaries import TestSummary, read_summary


def test_what_is_drawn_has_its_curve_and_its_target_a_gallery(finished):
    test = read_summary(finished.inputs["test"], TestSummary)
    [group] = read_groups(finished, test, ["contrast"]).groups
    drawn = [item.row for item in group.drawn(4)]
    steps = []
    found = evidence(finished, drawn, lambda part, done: steps.append((part, done)))
    assert set(found["curves"]) == {row.key for row in drawn}
    assert set(found["galleries"]) == {row.target for row in drawn}
    assert steps == [("curves", 1)] * 4 + [("influences", 1)] * len(found["influences"].targets)
    held_out = held_out_of(finished)
    theta = held_out.datamodel.weight[:, held_out.position(drawn[0].target)]
    assert found["galleries"][drawn[0].target].helpers[0].index == np.argmax(theta)


def test_names_are_classes_or_nothing(finished):
    labels = finished.data.labels
    assert names_of(labels)("train", 3) == labels.class_names[labels.train_labels[3]]
    assert names_of(labels)("target", 1) == labels.class_names[labels.target_labels[1]]
    assert names_of(None)("train", 3) == ""
