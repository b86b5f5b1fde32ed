from quarterdeck.settings import masks
from quarterdeck.settings.masks import MASK


def test_addresses_keep_what_identifies_them() -> None:
    assert masks.address("https://a.example:8443/mcp") == "https://a.example:8443/mcp"
    assert masks.address("https://user:pw@a.example/x?token=t&b") == f"https://{MASK}@a.example/x?token={MASK}&{MASK}"


def test_arguments_after_a_telling_word_are_hidden() -> None:
    given = ["-y", "pkg", "--api-key", "k1", "--token=k2", "-H", "Authorization: Bearer k3", "https://x.example/?k=k4"]
    shown = " ".join(masks.arguments(given))
    assert not any(secret in shown for secret in ("k1", "k2", "k3", "k4"))
    assert shown.startswith("-y pkg --api-key")
