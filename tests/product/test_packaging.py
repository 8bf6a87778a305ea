"""What the project says of itself in several places is the same everywhere: version, authors, licence, Python."""

import re
import sys
import tomllib

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from places import ROOT
from trove_classifiers import classifiers

import pipeline

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_changelog_begins_with_what_is_unreleased_and_then_has_this_version():
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", PROJECT["version"]]


def test_the_citation_is_of_this_version_by_whom_the_licence_names():
    assert CITATION["version"] == PROJECT["version"] and CITATION["cff-version"] == "1.2.0"
    (author,) = (one["name"] for one in CITATION["authors"])
    assert PROJECT["authors"] == [{"name": author}]
    assert f"Copyright (c) 2026 {author}" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert CITATION["license"] == PROJECT["license"]
    assert [one["authors"][0]["family-names"] for one in CITATION["references"]] == ["Mehrabi", "Ilyas"]


def test_classifiers_are_known_and_name_the_python_that_runs_the_tests():
    assert set(PROJECT["classifiers"]) <= set(classifiers)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert all(one in SpecifierSet(PROJECT["requires-python"]) for one in [*named, python])


def test_every_dependency_has_an_exact_version_in_the_constraints():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    exact = {canonicalize_name(line.partition("==")[0]) for line in lines if "==" in line}
    extras = PROJECT["optional-dependencies"].values()
    wanted = [Requirement(text) for texts in (PROJECT["dependencies"], *extras) for text in texts]
    assert {canonicalize_name(one.name) for one in wanted} - exact == {canonicalize_name(PROJECT["name"])}


def test_both_packages_are_typed():
    for package in ("datamodels_inf", "pipeline"):
        assert (ROOT / package / "py.typed").is_file()
    assert pipeline.__file__ == str(ROOT / "pipeline" / "__init__.py")
