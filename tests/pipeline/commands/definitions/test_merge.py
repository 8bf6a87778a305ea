"""`merge` without a folder, and its help page."""

from command_here import call, ok


def test_a_folder_is_named(tmp_path):
    done = call(tmp_path, "merge")
    assert (done.returncode, "Missing argument 'OUT'" in done.stderr) == (2, True)


def test_the_help_says_what_it_reads(tmp_path):
    page = " ".join(ok(tmp_path, "merge", "--help").split())
    assert "OUT [FOLDER]..." in page
    assert "Nothing is trained: shards that are missing are named." in page


def test_a_shard_counted_from_0_is_refused_before_anything_is_made(tmp_path):
    done = call(tmp_path, "train", "--out", "set", "--shard", "0/100")
    assert (done.returncode, done.stderr) == (
        2,
        "datamodels-inf: --shard 0/100: shards are counted from 1: use --array=1-100.\n",
    )
    assert not list(tmp_path.iterdir())
