"""The scripts that shells load, and the answers to them. An answer is words or nothing, never an error."""

from __future__ import annotations

import contextlib
import os
from typing import ClassVar

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from pipeline.completion.words import PARTIAL

PROGRAM = "datamodels-inf"
VARIABLE = "_DATAMODELS_INF_COMPLETE"
"""Set by the scripts, when a user asks for completions."""

# Readline breaks words at = and :, as in `--set test.method=sw`: the line is sent as it is, and what stands before the
# break is taken off again. A name with anything that the shell would run or replace is quoted. Old versions have
# neither compopt nor nosort.
_BASH = """\
%(complete_func)s() {
    local kind value line response
    line="${COMP_LINE:0:${COMP_POINT:-0}}"
    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" DATAMODELS_INF_LINE="$line" \\
        DATAMODELS_INF_WORD="${2-${COMP_WORDS[COMP_CWORD]}}" %(complete_var)s=bash_complete \\
        "${1:-%(prog_name)s}" 2>/dev/null)
    COMPREPLY=()
    while IFS=, read -r kind value; do
        if [[ $value == *[!A-Za-z0-9_./=:@%%+,~-]* ]]; then
            [[ $value == "~/"* ]] && printf -v value '~/%%q' "${value#"~/"}" || printf -v value '%%q' "$value"
        fi
        case $kind in
            plain) COMPREPLY+=("$value") ;;
            partial) COMPREPLY+=("$value"); compopt -o nospace 2>/dev/null ;;
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
        esac
    done <<< "$response"
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s 2>/dev/null ||
    complete -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a response plain described partial
    local kind key text
    (( $+commands[%(prog_name)s] )) || return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \\
        %(complete_var)s=zsh_complete %(prog_name)s 2>/dev/null)}")
    for kind key text in ${response}; do
        case $kind in
            plain) [[ $text == _ ]] && plain+=("$key") || described+=("$key:$text") ;;
            partial) partial+=("$key") ;;
            dir) _path_files -/ ;;
            file) _path_files -f ;;
        esac
    done
    (( $#described )) && _describe -V unsorted described -U
    (( $#plain )) && compadd -U -V unsorted -a plain
    (( $#partial )) && compadd -U -V unsorted -S '' -a partial
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""


class Sayable(ShellComplete):
    """Names that a shell's line can hold: a name with a line break would be two, and one that is no text, none."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        """Those of click, without the others."""
        return [item for item in super().get_completions(args, incomplete) if str(item.value).isprintable()]


class Bash(Sayable, BashComplete):
    """Completion of a line up to the cursor, whatever readline takes for words."""

    source_template: ClassVar[str] = _BASH

    def source(self) -> str:
        """The script; an old bash can load it too, so that click need not ask for its version."""
        return ShellComplete.source(self)

    def get_completion_args(self) -> tuple[list[str], str]:
        """(whole words, the beginning of one), of the line, or of the words where there is none."""
        line = os.environ.get("DATAMODELS_INF_LINE", "")
        if not line:
            return super().get_completion_args()
        words = split_arg_string(line)
        incomplete = "" if line[-1].isspace() else words.pop()
        return words[1:], incomplete

    def complete(self) -> str:
        """The answer, without what stands before the break that readline sees."""
        args, incomplete = self.get_completion_args()
        value = incomplete.partition("=")[2] if incomplete.startswith("--") and "=" in incomplete else incomplete
        word = os.environ.get("DATAMODELS_INF_WORD", value)
        word = "" if word in ("=", ":") else word
        before = value[: len(value) - len(word)] if value.endswith(word) else ""
        return "\n".join(
            f"{item.type},{str(item.value).removeprefix(before)}" for item in self.get_completions(args, incomplete)
        )


class Zsh(Sayable, ZshComplete):
    """Click's answers, and words after which one types on."""

    source_template: ClassVar[str] = _ZSH


class Fish(Sayable, FishComplete):
    """Click's answers. Fish sets no blank after = : and / by itself."""

    def format_completion(self, item: CompletionItem[str]) -> str:
        """One line of the answer: the kind of a value, the value, and what it is."""
        kind = "plain" if item.type == PARTIAL else item.type
        return super().format_completion(CompletionItem(item.value, type=kind, help=item.help))


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def script(command: click.Command, shell: str) -> str:
    """What a shell loads once."""
    return SHELLS[shell](command, {}, PROGRAM, VARIABLE).source()


def answer(command: click.Command) -> None:
    """Answer the shell that asks, by click's own protocol; whatever fails, the user is typing and reads no errors."""
    for shell in SHELLS.values():
        add_completion_class(shell)
    with contextlib.suppress(Exception), contextlib.redirect_stderr(None):
        command.main(args=[], prog_name=PROGRAM, complete_var=VARIABLE, standalone_mode=False)
