"""What is written down for shells is what the models and tables say; it is read without importing any of them."""

import subprocess
import sys

from pipeline.completion.known_names import FILE, PATH, known_names, known_settings
from pipeline.completion.write_names import made


def test_the_file_is_up_to_date():
    assert FILE.read_text(encoding="utf-8") == made(), "run: python -m pipeline.completion.write_names"


def test_settings_have_their_values():
    settings = known_settings()
    assert settings["test.rows"] == ["held-out", "progressive"]
    assert settings["fit.file"] == PATH and settings["test.alpha"] == []


def test_tables_have_their_names():
    assert known_names("importers") == ["dattri", "quanda", "bergson"]
    assert known_names("nothing") == []


def test_reading_is_light():
    code = (
        "import sys; from pipeline.completion.known_names import known_settings; assert known_settings(); "
        "assert not {'numpy', 'pydantic', 'click'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
