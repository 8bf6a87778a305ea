"""The command `datamodels-inf`: the group of all COMMANDS, and what becomes of errors."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from contextlib import suppress

import click

from pipeline.closed_pipe import ClosedPipeError, PipedGroup, echo, forgive_letters, leave_quietly, named
from pipeline.commands.definitions import COMMANDS, TASKS
from pipeline.completion.shells import PROGRAM, VARIABLE, answer
from pipeline.errors import BadInputError, StoppedEarly, WorkStoppedError
from pipeline.help_pages import HelpedGroup
from pipeline.progress import working
from pipeline.signals import as_interrupts, came
from pipeline.store.disk import disk_sentence
from pipeline.text.own_paths import too_long


class _Program(HelpedGroup, PipedGroup):
    """The group of all commands."""


@click.group(
    cls=_Program,
    sections=TASKS,
    examples=(
        "datamodels-inf run                    # a first analysis, of data that ships",
        "datamodels-inf findings --limit 5     # what it found, in words",
        "datamodels-inf init my-models         # your own models: what to run next",
        "datamodels-inf COMMAND --help         # options and examples of a command",
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@click.version_option(package_name="datamodels-inf", prog_name=PROGRAM, message="%(prog)s %(version)s")
def cli() -> None:
    """Did training image i influence the model's answer on a target more than training image j did? With valid
    p-values."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 a failure while working, 2 bad input, 130 interrupted, 143 and 129
    ended by SIGTERM and SIGHUP.

    Where the reader of a pipe has gone (`findings --csv | head`), it ends without a word, as one that SIGPIPE ended:
    141.
    """
    if VARIABLE in os.environ:
        answer(cli)
        return
    forgive_letters()
    with as_interrupts():
        try:
            try:
                _run()
            finally:
                with named():
                    if sys.stdout is not None:
                        sys.stdout.flush()  # Here, where a pipe that was closed meanwhile is noticed, and not at exit.
        except ClosedPipeError:
            leave_quietly()
        except OSError:
            ended = came()
            if ended is None:
                raise
            leave_quietly(128 + ended)  # The terminal has gone, which is why.


def _run() -> None:
    """The command, and a sentence with an exit code for what it raises."""
    try:
        with working(_command(), quiet="--quiet" in sys.argv):  # Whatever takes long, it is not silent.
            sys.exit(cli.main(prog_name=PROGRAM, standalone_mode=False))
    except ClosedPipeError:
        raise
    except click.exceptions.NoArgsIsHelpError as help_page:
        echo(help_page.format_message())
        sys.exit(2)
    except click.ClickException as error:
        _stop(_hinted(error), 2)
    except StoppedEarly as stop:
        echo(str(stop))
        sys.exit(0)
    except BadInputError as error:
        _stop(str(error), 2)
    except WorkStoppedError as error:
        _stop(str(error), 1)
    except (click.Abort, KeyboardInterrupt):
        _stop("interrupted; nothing was left half-written.", 130)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            _stop(too_long(os.fsdecode(error.filename or "")), 2)
        if isinstance(error, OSError) and (sentence := disk_sentence(error)):
            _stop(sentence, 1)
        if "--verbose" in sys.argv:
            echo(traceback.format_exc().rstrip(), err=True)
        _stop(f"failed: {type(error).__name__}: {' '.join(str(error).split())}", 1)


def _hinted(error: click.ClickException) -> str:
    """What is wrong, and where the right words stand, unless it names them itself."""
    message, ctx = error.format_message().replace("\n\t", " "), getattr(error, "ctx", None)
    message = message.replace("is not a valid integer range", "is not a whole number")
    if ctx is None or "Did you mean" in message:
        return message
    return f"{message.rstrip('.')}; see {ctx.command_path} --help."


def _command() -> str:
    """What the user asked for, as far as it can be seen before anything is imported."""
    return next((word for word in sys.argv[1:] if word in COMMANDS), "datamodels-inf")


def _stop(sentence: str, code: int) -> None:
    """Whatever was raised, if a signal came, that is why: processes that did work hear it too."""
    ended = came()
    if ended is None:
        echo(f"datamodels-inf: {' '.join(sentence.splitlines())}", err=True)
        sys.exit(code)
    with suppress(OSError, ClosedPipeError):
        echo(f"datamodels-inf: ended by {ended.name}; nothing was left half-written.", err=True)
        sys.stdout.flush()
    leave_quietly(128 + ended)  # Processes that are gone too may be missed at exit, with many words.


if __name__ == "__main__":
    main()
