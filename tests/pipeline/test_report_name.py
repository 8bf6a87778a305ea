"""What a report is called."""

import pytest

from pipeline.config import Config
from pipeline.config_files import load_config
from pipeline.errors import BadInputError
from pipeline.report_name import LONGEST, LONGEST_NAME, name_of_file

OWN = ("source.kind=files", "source.folder=mine")


def report(*overrides, config="digits"):
    return load_config(config, overrides).report


@pytest.mark.parametrize(
    ("overrides", "name"),
    [
        ((), "digits"),
        (("test.alpha=0.1",), "digits-alpha-0.1"),
        (("test.alpha=0.2", "test.method=swap", "fit.mode=lasso"), "digits"),  # As they are.
        (('test.method=["contrast", "paired"]',), "digits-method-contrast-paired"),
        (("test.seed=3", "test.alpha=0.1"), "digits-seed-3-alpha-0.1"),
        (("test.alpha=0.1", "test.seed=3"), "digits-seed-3-alpha-0.1"),
        (("fit.targets=[3,7]",), "digits-fit-targets-3-7"),  # [test] and [atlas] have targets too.
        (("atlas.targets=",), "digits-no-atlas-targets"),
        (("test.allow_unexchangeable=true",), "digits-allow_unexchangeable"),
        (OWN, "digits-folder-mine"),
        ((*OWN, "source.fit_rows="), "digits-folder-mine-no-fit_rows"),
        (("report.max_panels=3", "robustness.top=2", "verify.top=1", "train.n_models=5"), "digits"),
        (("referee.scores=['lasso']", "referee.k=3"), "digits"),
        (("fit.memory_gb=2", "test.chunk_pairs=10"), "digits"),
        (("report.name=x", "test.alpha=0.1"), "x"),
        (("report.name=", "test.alpha=0.1"), "digits-alpha-0.1"),
    ],
)
def test_what_set_changes_is_in_the_name(overrides, name):
    assert report(*overrides).name == name


def test_names_that_would_be_the_same_or_too_long_are_told_apart():
    names = [report("source.kind=files", f"source.folder={folder}").name for folder in ("a/x", "b/x", "x", "é", "è")]
    assert len(set(names)) == len(names)
    long = [report(f"fit.targets={list(range(n))}").name for n in (50, 51)]
    assert len(set(long)) == 2 and all(len(name) <= LONGEST + len("digits-") for name in long)
    assert report("test.alpha=0.1000001").name != report("test.alpha=0.1").name
    for name in (*names, *long):
        assert Config.model_validate({"report": {"name": name}}).report.name == name


@pytest.mark.parametrize(("one", "other"), [
    ("fit.targets=[1,2]", 'fit.targets="1-2"'),
    ("fit.targets=[3]", 'fit.targets="3"'),
    ('fit.targets="a-b"', 'fit.targets="a b"'),
    ('fit.targets="no"', "fit.targets=[0]"),
])  # fmt: skip
def test_a_text_is_not_taken_for_a_list_or_a_number(one, other):
    assert report(one).name != report(other).name


def test_a_name_is_never_longer_than_a_hundred_characters(tmp_path):
    names = []
    for end in "ab":
        path = tmp_path / f"{end}.toml"
        path.write_text(f'[report]\nname = "{"x" * 99}{end}"\n')
        names.append(report("test.alpha=0.1", config=str(path)).name)
    assert {len(name) for name in names} == {LONGEST_NAME} and len(set(names)) == 2
    assert Config.model_validate({"report": {"name": names[0]}}).report.name == names[0]
    with pytest.raises(BadInputError, match=r"report\.name = 'yyy.*at most 100 characters"):
        report(f"report.name={'y' * 101}")


def test_without_a_name_the_file_gives_it(tmp_path):
    path = tmp_path / "my study (2).toml"
    path.write_text('[source]\nkind = "files"\nfolder = "mine"\n')
    assert report(config=str(path)) == Config.model_validate({"report": {"name": "my-study-2"}}).report
    assert report("test.alpha=0.1", config=str(path)).name == "my-study-2-alpha-0.1"
    assert name_of_file("…") == "report"


def test_a_configuration_that_is_whole_only_with_its_overrides_has_a_name(tmp_path):
    path = tmp_path / "scores.toml"
    path.write_text('[fit]\nmode = "load"\n')
    assert report("fit.file=trak.npy", "fit.mode=load", config=str(path)).name == "scores-mode-load-fit-file-trak.npy"


def test_a_title_about_other_data_is_not_kept():
    assert report().title == report("test.alpha=0.1").title == "Which training digits matter more?"
    assert report(*OWN).title == "Which training images matter more?"
    assert report(*OWN, "report.title=Mine").title == "Mine"


def test_other_stages_do_not_depend_on_the_name(tmp_path):
    from pipeline.run import Pipeline

    keys = [
        dict(Pipeline(load_config("digits", overrides), tmp_path, tmp_path).specs())
        for overrides in (("test.alpha=0.1",), ("test.alpha=0.1", "report.name=x"))
    ]
    assert {name for name in keys[0] if keys[0][name].key != keys[1][name].key} == {"report"}
