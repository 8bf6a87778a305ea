"""Images and items in words."""

from pipeline.text.nouns import noun_of, worded


def test_only_what_is_known_to_be_an_image_is_called_one():
    assert (noun_of(are_images=True), noun_of(are_images=False)) == ("image", "item")


def test_texts_about_images_become_texts_about_items():
    text = "Pairs of images: hold no image, or all; Image i; imagery stays"
    assert worded(text, "image") == text
    assert worded(text, "item") == "Pairs of items: hold no item, or all; Item i; imagery stays"
