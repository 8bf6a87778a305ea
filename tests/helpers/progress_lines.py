"""What a log holds beside the words of a command: a line of progress now and then, on a slow machine more of them."""

import re

LINE = re.compile(
    r"^[\w:,. –-]+: (?:[\d.,]+(?: \w?B)? of [\d.,]+ ?\w+ \(\d+ %\) after|\d+ % after|working,) .*\n?", re.MULTILINE
)


def without_progress(text):
    """`text` as if all had been done in a moment."""
    return LINE.sub("", text)
