"""The section [cluster]: where work is done, which enters no key, no name and no report."""

import pytest
from command_here import call

from pipeline.config_files import load_config, to_toml
from pipeline.run import Pipeline

SLURM = 'cluster.slurm={cores=4, memory="8GB", job_extra_directives=["--gpus=1", "-x \\"n 1\\""], env={A="b"}}'
OURS = ("cluster.address=slurm", SLURM, "cluster.jobs=3", "cluster.in_flight=5", "cluster.patience=7")


@pytest.mark.parametrize(
    "address", ("tcp://host:8786", "tls://10.0.0.1:1", "local:1", "local:12", "tcp://[::1]:8786", None)
)
def test_what_an_address_may_be(address):
    given = () if address is None else (f"cluster.address={address}",)
    assert load_config("digits", given).cluster.address == address


@pytest.mark.parametrize(
    "address", ("local", "local:0", "local:-1", "tcp://host", "host:8786", "http://a:1", "SLURM", "")
)
def test_what_it_may_not(address, tmp_path):
    done = call(tmp_path, "fit", "--cluster", address)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"cluster.address = '{address}': it must be \"tcp://host:port\" of a Dask scheduler" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("setting", "said"),
    (
        ("cluster.patience=0", "cluster.patience = 0"),
        ("cluster.in_flight=0", "cluster.in_flight = 0"),
        ("cluster.jobs=many", "cluster.jobs = 'many'"),
        ("cluster.slurm=4", "cluster.slurm = 4"),
        ("cluster.nodes=4", "cluster.nodes is not a setting; allowed are address, jobs"),
        ("cluster.address=slurm", "needs cluster.slurm with at least cores and memory of a job"),
    ),
)
def test_bad_settings_are_one_sentence(setting, said, tmp_path):
    done = call(tmp_path, "fit", "--set", setting)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert said in done.stderr


def test_a_configuration_with_a_cluster_reads_back(tmp_path):
    config = load_config("digits", OURS)
    (tmp_path / "copy.toml").write_text(to_toml(config))
    assert load_config(str(tmp_path / "copy.toml"), []) == config
    assert config.cluster.slurm["job_extra_directives"] == ["--gpus=1", '-x "n 1"']


def test_keys_and_names_do_not_know_of_it(tmp_path):
    plain, ours = load_config("digits", []), load_config("digits", OURS)
    assert ours.report.name == plain.report.name == "digits"
    specs = [dict(Pipeline(config, tmp_path, tmp_path).specs()) for config in (plain, ours)]
    assert {name: spec.key for name, spec in specs[0].items()} == {name: spec.key for name, spec in specs[1].items()}
    assert to_toml(ours, without=("cluster",)) == to_toml(plain, without=("cluster",))
    assert "cluster" not in to_toml(ours, without=("cluster",))
