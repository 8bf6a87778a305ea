"""Configurations that ship: each says in its first line what it is."""

from pipeline.named_configs import first_comment, named_configs


def test_each_is_a_file_with_a_first_comment():
    named = named_configs()
    assert {"digits", "cifar10"} <= set(named) and list(named) == sorted(named)
    for name, path in named.items():
        assert path.name == f"{name}.toml" and path.read_text(encoding="utf-8").startswith(f"# {first_comment(path)}\n")
