"""What `verify` asks for."""

from command_here import call


def test_csv_is_for_single_claims(tmp_path):
    done = call(tmp_path, "verify", "--fresh", "100", "--csv")
    assert done.returncode == 2 and "the rows are in agreement.parquet" in done.stderr
    assert list(tmp_path.iterdir()) == []
