"""Models trained in this process, as processes and workers train them; and a look at what a place is given to do."""

import contextlib

import pytest
import torch

from pipeline.places.processes import Processes
from pipeline.training.inputs import read_inputs
from pipeline.training.work import Trainer


@contextlib.contextmanager
def one_torch_thread():
    """The same bits need the same number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@pytest.fixture
def one_thread():
    with one_torch_thread():
        yield


def margins_of(job, inputs, unit):
    """float32, of `Inputs` or of a file of them."""
    inputs = inputs if hasattr(inputs, "train") else read_inputs(inputs, job)
    return Trainer(job, inputs)(unit, lambda step: None)["margins"]


@contextlib.contextmanager
def noted_units():
    """The units that processes are given while it lasts: all are asked for at once, and made as ever."""
    done, units = Processes.done, []

    def noted(self, work, asked, advance):
        asked = list(asked)
        units.extend(asked)
        return done(self, work, asked, advance)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Processes, "done", noted)
        yield units
