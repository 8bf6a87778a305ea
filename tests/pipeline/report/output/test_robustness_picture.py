"""The picture of the re-runs."""

from clustered_images import settings
from PIL import Image

from pipeline.config_files import load_config
from pipeline.run import Pipeline


def test_the_picture_shows_the_first_cases_only(clusters, robustness_report, tmp_path):
    config = load_config("digits", [*settings(clusters / "alike"), "robustness.top=6", "robustness.neighbours=3"])
    Pipeline(config, clusters / "alike" / "store", tmp_path, quiet=True).run("report")
    with (
        Image.open(robustness_report / "robustness.png") as two,
        Image.open(tmp_path / config.report.name / "robustness.png") as six,
    ):
        assert 1.5 < six.height / two.height < 2.2
    assert (tmp_path / config.report.name / "index.html").read_text(encoding="utf-8").count('class="lane"') == 6 * 5
