"""A template is compiled once, its environment's own filters are used all the same, and a changed source is noticed."""

from jinja2 import DictLoader, Environment

from pipeline.report.compiled_templates import CompiledTemplates


class Counting(Environment):
    compiled = 0

    def compile(self, *arguments, **options):
        Counting.compiled += 1
        return super().compile(*arguments, **options)


def rendered(cache, source, suffix):
    environment = Counting(loader=DictLoader({"page": source}), bytecode_cache=cache)
    environment.filters["ended"] = lambda text: text + suffix
    return environment.get_template("page").render(word="a")


def test_compiled_once_for_many_environments():
    cache, source = CompiledTemplates(), "{{ word | ended }}"
    Counting.compiled = 0
    assert [rendered(cache, source, end) for end in "bcd"] == ["ab", "ac", "ad"]
    assert Counting.compiled == 1
    assert rendered(cache, source + "!", "b") == "ab!"
    assert Counting.compiled == 2
