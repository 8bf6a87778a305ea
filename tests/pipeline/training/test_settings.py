"""`[train]`: what belongs together, and a sentence for what does not."""

import pytest

from pipeline.config_files import load_config, to_toml
from pipeline.errors import BadInputError
from pipeline.training.settings import Train

STUDY = ("dataset=cifar10", "balanced=true", "features=patches")


FUNCTION = "function=mine.train:train_one"


def train(*settings):
    return load_config("digits", [f"train.{setting}" for setting in settings]).train


def test_the_digits_configuration_says_the_defaults():
    assert train() == Train()


def test_the_study(tmp_path):
    study = load_config("cifar10-study", [])
    assert (study.train.features, study.train.decay, study.train.last_layer) == ("patches", "weights", "zero")
    (tmp_path / "copy.toml").write_text(to_toml(study))
    assert load_config(str(tmp_path / "copy.toml"), []).train == study.train


@pytest.mark.parametrize(("settings", "part"), [
    (("target_class=dog",), "train.target_class and train.of_target_class must both be given, or neither"),
    (("of_target_class=3",), "train.target_class and train.of_target_class must both be given, or neither"),
    (("dataset=cifar10", "target_class=dog", "of_target_class=3"), "train.target_class is for train.balanced = true"),
    (("balanced=true",), "train.balanced and train.features are for train.dataset 'cifar10'"),
    (("features=patches",), "train.balanced and train.features are for train.dataset 'cifar10'"),
    (("dataset=cifar10", "features=patches"), "train.features 'patches' is for train.balanced = true"),
    (("dataset=mnist",), "train.dataset = 'mnist'"),
    ((*STUDY, "features=edges"), "train.features = 'edges'"),
    (("architecture=resnet",), "train.architecture = 'resnet': input should be 'softmax', 'mlp' or 'convnet'"),
    (("n_train=1",), "train.n_train = 1"),
    (("n_targets=0",), "train.n_targets = 0"),
    (("n_models=0",), "train.n_models = 0"),
    (("n_models=2.5",), "train.n_models = 2.5"),
    (("hidden=0",), "train.hidden = 0"),
    (("steps=0",), "train.steps = 0"),
    (("batch_size=0",), "train.batch_size = 0"),
    (("learning_rate=0",), "train.learning_rate = 0"),
    (("weight_decay=-1",), "train.weight_decay = -1"),
    (("decay=both",), "train.decay = 'both': input should be 'loss' or 'weights'"),
    (("last_layer=one",), "train.last_layer = 'one': input should be 'he' or 'zero'"),
    (("law=poisson",), "train.law = 'poisson'"),
    (("margin_step=0",), "train.margin_step = 0"),
    (("margin_step=inf",), "train.margin_step = inf"),
    (("seed=-1",), "train.seed = -1"),
    ((f"seed={2**64}",), f"train.seed = {2**64}"),
    (("labels=x.npz",), "train.labels is for train.function; leave it out"),
    (("outcome=loss",), "train.outcome is for train.function"),
    (("higher_is_better=false",), "train.higher_is_better is for train.function"),
    (("retries=1",), "train.retries is for train.function"),
    (("repeatable=false",), "train.repeatable is for train.function"),
    (("function=mine",), "train.function = 'mine': give it as package.module:function"),
    (("function=mine:",), "give it as package.module:function"),
    (("function=my-file.py:f",), "give it as package.module:function"),
    ((FUNCTION, "steps=3"), "train.steps is for networks of ours, not for a function; leave it out"),
    ((FUNCTION, "margin_step=0.1"), "train.margin_step is for networks of ours"),
    ((FUNCTION, "architecture=mlp"), "train.architecture is for networks of ours"),
    ((FUNCTION, "dataset=cifar10"), "train.dataset, train.balanced and train.features are for networks of ours"),
    ((FUNCTION, "retries=-1"), "train.retries = -1"),
    ((FUNCTION, "retries=101"), "train.retries = 101"),
    (("epochs=3",), "train.epochs is not a setting; allowed are dataset, images, n_train"),
])  # fmt: skip
def test_what_is_refused(settings, part):
    with pytest.raises(BadInputError) as caught:
        train(*settings)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_of_a_function_stand_in_no_configuration_without_one(tmp_path):
    """Else they would be among the settings that a report prints, and change it."""
    plain = to_toml(load_config("digits", []))
    assert not any(name in plain for name in ("function", "retries", "repeatable", "higher_is_better"))
    changes = [f"train.{setting}" for setting in (FUNCTION, "retries=0", "repeatable=false", "labels=x.npz")]
    config = load_config("digits", changes)
    (tmp_path / "copy.toml").write_text(to_toml(config))
    again = load_config(str(tmp_path / "copy.toml"), []).train
    assert again == config.train
    assert (again.function, again.retries, again.repeatable) == ("mine.train:train_one", 0, False)
