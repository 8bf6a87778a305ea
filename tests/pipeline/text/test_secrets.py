"""What is secret of an address is hidden wherever it stands; the rest stays as it is, so that no key changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.secrets import HIDDEN, in_texts, without_secrets

SECRET = "s3cr3t-0f-someone"
ADDRESSES = {
    "login": f"https://me:{SECRET}@host/a.npy",
    "token for a login": f"https://{SECRET}@host/a.npy",
    "an at in the password": f"https://me:a@{SECRET}@host/a.npy",
    "a quote in the password": f"https://me:a'{SECRET}@host/a.npy",
    "a slash in the password": f"https://me:a/{SECRET}@host/a.npy",
    "ftp": f"ftp://me:{SECRET}@host:21/a.npy",
    "AWS 4": f"https://b.s3.amazonaws.com/a?X-Amz-Credential={SECRET}&X-Amz-Signature={SECRET}&x-amz-security-token={SECRET}",
    "AWS 2": f"https://b/a?AWSAccessKeyId={SECRET}&Signature={SECRET}&Expires=1",
    "Google": f"https://b/a?GoogleAccessId={SECRET}&X-Goog-Signature={SECRET}",
    "Azure": f"https://b/a?sv=1&se=2026-01-01&sr=b&sig={SECRET}",
    "CloudFront": f"https://b/a?Policy=abc&Key-Pair-Id={SECRET}&Signature={SECRET}",
    "plain words": f"https://b/a?x=1&token={SECRET}&access_token={SECRET}&api_key={SECRET}&password={SECRET}&auth={SECRET}",
    "escaped name": f"https://b/a?X%2DAmz%2DSignature={SECRET}",
    "an address as a value": f"https://b/a?url=https%3A%2F%2Fb%2Fa%3FX-Amz-Signature%3D{SECRET}",
    "a login in a value": f"https://b/a?to=https%3A%2F%2Fme%3A{SECRET}%40host%2Fa",
    "key of an API": f"https://b/a?alt=media&key={SECRET}",
    "fragment": f"https://b/a#access_token={SECRET}",
    "semicolons": f"https://b/a?x=1;token={SECRET};y=2",
}
SENTENCES = (
    "{}",
    "{} does not exist.",
    "'{}'",
    '"{}",',
    "({}); try again",
    "--set source.masks_url={} --quiet",
    "a {} b {}",
)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_no_secret_is_left(address, sentence):
    text = without_secrets(sentence.format(ADDRESSES[address], ADDRESSES[address]))
    assert SECRET not in text
    assert HIDDEN in text
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    "text",
    (
        "https://host/a@v1/masks.npy?dl=1&versionId=abc&part=2",
        "http://127.0.0.1:8000/a@b/c.npy",
        "me@host.org wrote: is it so? x=1",
        "https://host/get?key=data/masks.npy&design=top&signal=2",
        "s3://bucket/key",
        "what?",
        "",
    ),
)
def test_what_is_no_secret_stays(text):
    assert without_secrets(text) == text


def test_a_sentence_around_an_address_stays_whole():
    text = without_secrets(f'in "https://h/a?sig={SECRET}", and (https://me@h/b?x=1&token={SECRET}); run it again.')
    assert text == 'in "https://h/a?sig=***", and (https://***@h/b?x=1&token=***); run it again.'


def test_a_renewed_signature_is_the_same_address():
    one = "https://b/a?part=1&sv=1&se=2026-01-01&sig=abc"
    assert without_secrets(one) == without_secrets(one.replace("2026", "2027").replace("abc", "def"))
    assert without_secrets(one) != without_secrets(one.replace("part=1", "part=2"))


@given(st.text(alphabet=st.sampled_from("ab:/@?&=#;.'\" %sigtoken*"), max_size=60))
def test_hiding_twice_hides_no_more(text):
    assert without_secrets(without_secrets(text)) == without_secrets(text)


@given(st.text(alphabet="abcXYZ019-_~!$()*+,%", min_size=1, max_size=30))
def test_any_password_is_hidden(password):
    assert without_secrets(f"https://u:{password}@host/x") == "https://***@host/x"
    assert without_secrets(f"https://host/x?sig={password}&y=1") == "https://host/x?sig=***&y=1"


def test_json_of_any_form():
    found = {"a": [f"https://{SECRET}@h/", 1, None, True], "b": {"c": "d"}}
    assert in_texts(found) == {"a": ["https://***@h/", 1, None, True], "b": {"c": "d"}}
