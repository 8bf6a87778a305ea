"""ROLES: what a re-run of a finding's pair is, and what it is called on the page, on its key and in a terminal.

Also what the p-values of re-runs may be used for.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.summaries import RobustnessSummary

FOLLOW_UP = (
    "Follow-up: the finding was selected on these held-out models, so p-values here describe and do not confirm; "
    "for a clean confirmation, split them (--split, robustness.split)."
)
NAMED = "These p-values are valid if the pair was chosen before looking at these models; else they only describe."
CONFIRMED = (
    "The finding was selected on the first half of the held-out models; all p-values here are of the second half."
)


@dataclass(frozen=True)
class Role:
    """title: on the page and in its pictures. in_key: below a drawing. in_terminal: of `datamodels-inf robustness`.

    css_class: of its name below a drawing, where that is not `name`.
    """

    name: str
    title: str
    in_key: str
    in_terminal: str
    css_class: str


def _role(name: str, title: str, in_key: str = "", in_terminal: str = "", css_class: str = "") -> Role:
    return Role(name, title, in_key or title, in_terminal or title, css_class or name)


ROLES: dict[str, Role] = {
    role.name: role
    for role in (
        _role("original", "the pair itself"),
        _role("neighbour", "look-alikes of both images"),
        _role("random", "random images of the same classes"),
        _role(
            "target",
            "the pair itself, on look-alikes of the target",
            in_key="the pair on look-alikes of the target",
            in_terminal="the same pair on look-alikes of the target",
            css_class="target-role",
        ),
    )
}
COMPARED = tuple(role for role in ROLES.values() if role.name != "original")
"""Those that are held against the original."""


def explanation(summary: RobustnessSummary) -> str:
    """What the p-values may be used for."""
    if summary.split:
        return CONFIRMED
    selected = any(case.finding for case in summary.cases)
    return FOLLOW_UP if selected else NAMED
