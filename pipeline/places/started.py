"""A connection to a Dask scheduler that is there, or to workers that are started for one command."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from datamodels_inf.internal.cores import available_cores
from pipeline.errors import BadInputError
from pipeline.places.interrupts import interrupts_later
from pipeline.places.settings import LOCAL, SLURM, ClusterSettings
from pipeline.places.slurm import slurm_cluster
from pipeline.progress import working

if TYPE_CHECKING:
    from distributed import Client

LOGGING = ("distributed", "tornado", "asyncio", "dask_jobqueue")
"""Packages whose loggers write to the terminal when a connection is lost."""
INSTALL = "pip install 'datamodels-inf[cluster]'"


@contextmanager
def connected(settings: ClusterSettings, say: Callable[[str], object], quiet: bool) -> Iterator[Client]:
    """A client of the cluster that the settings name; workers that were started for it end with it."""
    try:
        from distributed import Client
    except ImportError as error:
        raise BadInputError(f"a cluster needs Dask: {INSTALL}.") from error
    address = str(settings.address)
    with _without_logs(), ExitStack() as using:
        with working("cluster", quiet):  # Only until it is there: what shows then is how far the work is.
            if address == SLURM:
                client = using.enter_context(Client(using.enter_context(slurm_cluster(settings, INSTALL, say))))
            elif match := LOCAL.fullmatch(address):
                client = using.enter_context(Client(using.enter_context(_local(int(match[1])))))
            else:
                client = using.enter_context(_of_scheduler(address, settings.patience))
        client.loop.asyncio_loop.set_exception_handler(_nothing)
        yield client


def _nothing(loop: object, context: object) -> None:
    """Of tasks of Dask's own that nobody waits for any more, as when all workers have gone."""


def _of_scheduler(address: str, patience: float) -> Client:
    from distributed import Client

    deadline = time.monotonic() + patience
    try:
        while True:
            client = Client.__new__(Client)  # Known before it is connected: whatever fails, it can be closed.
            try:
                client.__init__(address, timeout=patience)
                return client
            except AssertionError:
                # Dask wants the greeting alone. A scheduler that has news for all clients, as of a unit that another
                # command has let go, may say both in one breath.
                client.close(timeout=patience)
                if time.monotonic() > deadline:
                    raise
    except (OSError, TimeoutError, ValueError) as error:
        raise BadInputError(
            f"there is no Dask scheduler at {address} (--cluster); start one with: dask scheduler."
        ) from error
    except TypeError as error:  # How Dask says that certificates, or a protocol, are not configured.
        raise BadInputError(f"Dask cannot connect to {address} (--cluster): {error}") from error


@contextmanager
def _local(n_workers: int) -> Iterator[Any]:
    """Their threads together are those that this process may use. No limit of memory: that of our work is set."""
    from distributed import LocalCluster

    threads = max(1, available_cores() // n_workers)
    with ExitStack() as using:
        with interrupts_later():
            cluster = LocalCluster(
                n_workers=n_workers, threads_per_worker=threads, processes=True, memory_limit=0,
                dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}, silence_logs=logging.CRITICAL,
            )  # fmt: skip
            using.enter_context(cluster)
        yield cluster


@contextmanager
def _without_logs() -> Iterator[None]:
    """What Dask would log or warn of, we say in a sentence."""
    from distributed.versions import VersionMismatchWarning

    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in LOGGING]
    before = {logger: logger.level for logger in map(logging.getLogger, {*LOGGING, *known})}
    for logger in before:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)
            yield
    finally:
        for logger, level in before.items():
            logger.setLevel(level)
