"""Known secrets are taken out of texts."""

from quarterdeck.client.redact import scrub


def test_the_longest_goes_first_and_what_is_too_short_to_tell_stays() -> None:
    assert scrub("key abcdef-1 and abcdef", ("abcdef", "abcdef-1")) == "key … and …"
    assert scrub("a key", ("a", "key")) == "a key"
