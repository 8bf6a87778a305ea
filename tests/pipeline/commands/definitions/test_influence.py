"""What `influence` asks for."""

from command_here import call


def test_a_target_or_an_image_is_named(tmp_path):
    done = call(tmp_path, "influence")
    assert done.returncode == 2 and "name a target, a training image, or both" in done.stderr
    done = call(tmp_path, "influence", "--target", "84", "--store", "there")
    assert done.stderr.endswith("first run: datamodels-inf run --config digits --store there\n")
