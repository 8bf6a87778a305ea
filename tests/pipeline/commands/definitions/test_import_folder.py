"""What `import` asks for."""

from command_here import call


def test_it_knows_whose_files_it_reads(tmp_path):
    done = call(tmp_path, "import", "--from", "nobody", "there", "here")
    assert done.returncode == 2 and "dattri" in done.stderr
    done = call(tmp_path, "import", "--from", "dattri", "there", "here")
    assert done.returncode == 2 and "there" in done.stderr
    assert list(tmp_path.iterdir()) == []
