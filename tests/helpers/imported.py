"""Everything that a command and a worker of Dask import, and the compiled loops: what the process of `warm` has before
it forks."""

import distributed.cli.dask_scheduler
import distributed.cli.dask_worker
import numpy as np
import pyarrow.parquet
import statsmodels.stats.multitest
import torch

from datamodels_inf.kernels.ahead import EVERYTHING, load
from pipeline.cli import cli
from pipeline.run import Pipeline
from pipeline.stages.report.content import content_of
from pipeline.training.work import Trainer

assert all((distributed, np, pyarrow.parquet, statsmodels.stats.multitest, torch, cli, Pipeline, content_of, Trainer))
load(EVERYTHING)
