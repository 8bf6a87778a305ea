"""Text in pictures."""

from pipeline.report.drawing.canvas import PLAIN, fit, font, wrap


def test_text_in_pictures_stays_inside():
    face = font(PLAIN, 20)
    assert face.getlength(fit("x" * 500, face, 200)) <= 200
    lines = wrap("some words " * 100, face, 300, most=3)
    assert len(lines) == 3
    assert max(face.getlength(line) for line in lines) <= 300
    assert lines[-1].endswith("…")
    assert wrap("", face, 300, most=3) == []
