"""Tiles of a picture: enlarged, as a mosaic, or grey where there are no images."""

from report_content import make_rows


def test_without_images_grey_tiles_stand_in(report):
    folder, page = report(make_rows(9, 2), images=None)
    assert page.all("img") == []
    assert len(page.all("div", **{"class": "blank"})) == 6 + len(page.all("section", **{"class": "group"}))
    assert "give source.images in the configuration and run again" in page.text
    assert len(list(folder.glob("panels/*"))) == 2
