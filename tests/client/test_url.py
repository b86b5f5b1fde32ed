import pytest

from quarterdeck.client.url import Url, read_url


@pytest.mark.parametrize(
    ("address", "url", "authority"),
    [
        ("http://h", Url("http", "h", 80, "/"), "h"),
        ("HTTPS://Host.Example:443/a?b=c#d", Url("https", "host.example", 443, "/a?b=c"), "host.example"),
        ("http://127.0.0.1:3000/p", Url("http", "127.0.0.1", 3000, "/p"), "127.0.0.1:3000"),
        ("http://[::1]:80/", Url("http", "::1", 80, "/"), "[::1]"),
        ("http://[::1]:81/", Url("http", "::1", 81, "/"), "[::1]:81"),
        ("http://me:p%40ss@h/x", Url("http", "h", 80, "/x", "me:p%40ss"), "h"),
        ('http://h/ä b/%2F"<?q=ö |', Url("http", "h", 80, "/%C3%A4%20b/%2F%22%3C?q=%C3%B6%20%7C"), "h"),
    ],
)
def test_an_address_is_taken_apart_as_it_is_asked_for(address: str, url: Url, authority: str) -> None:
    read = read_url(address)
    assert read == url
    assert read.authority == authority
    assert "@" not in str(read)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "h/p",
        "ftp://h/",
        "http://",
        "http:///p",
        "http://[::1/",
        "http://h:port/",
        "http://a b/",
        "http://ä.example/",
    ],
)
def test_what_is_no_address_in_ascii_is_refused(address: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whichever words urlsplit has for it
        read_url(address)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b?c=1", "http://h:81/b?c=1"),
        ("b", "http://h:81/x/b"),
        ("../b", "http://h:81/b"),
        ("//other/b", "http://other/b"),
        ("https://other:444/b", "https://other:444/b"),
    ],
)
def test_a_location_is_read_from_where_it_was_given(location: str, url: str) -> None:
    assert str(read_url("http://h:81/x/y?z").joined(location)) == url
