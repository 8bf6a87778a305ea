"""JSON that others wrote: whatever is wrong with it is one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pipeline.errors import BadInputError


def read_json(path: Path) -> Any:
    """The content of a file, of any form; a `BadInputError` where it is no JSON.

    Lists within lists by the thousand end Python's recursion, and numbers of thousands of digits are a ValueError.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise BadInputError(f"{path} is not valid JSON (it is nested too deep).") from error
    except (OSError, ValueError) as error:
        raise BadInputError(f"{path} is not valid JSON ({' '.join(str(error).split())[:120]}).") from error
