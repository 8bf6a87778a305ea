"""ROLES: what a re-run of a finding's pair is, and what it is called on the page, on its key and in a terminal."""

from __future__ import annotations

from dataclasses import dataclass


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
