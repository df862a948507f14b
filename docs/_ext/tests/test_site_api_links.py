# docs/_ext/site_api_links.py, and the form of each link that leads out of the guide.
from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from site_api_links import addresses
from site_build import build

DOCS = Path(__file__).resolve().parents[2]
PAGES = [DOCS / "index.md", *sorted(DOCS.glob("[a-z]*/*.md"))]
LINK = re.compile(r"(?<!\w)\[([^\]]*)\]\((https?:[^)\s]*)\)")
ANY = re.compile(r"\bhttps?://[^\s)>\"`]+")
FENCE = re.compile(r"^(`{3,}|:{3,})\{?(\w*).*?^\1", re.MULTILINE | re.DOTALL)
HOSTS = {
    "docs.nvidia.com",
    "docs.pytorch.org",
    "dmlc.github.io",
    "github.com",
    "hypothesis.readthedocs.io",
    "pytorch.org",
}
RFC = re.compile(r"/pytorch/rfcs/blob/master/(RFC-\d{4})[\w-]*\.md")
THREAD = re.compile(r"/[\w.-]+/[\w.-]+/(?:issues|pull)/(\d+)")


def fault(text: str, address: str) -> str | None:
    """What is wrong with the form of a link, or None."""
    parts = urlsplit(address)
    if parts.scheme != "https":
        return "not https"
    if parts.hostname not in HOSTS:
        return "a host that HOSTS does not list"
    if parts.query or parts.username or parts.port:
        return "a query, a user or a port"
    if parts.hostname == "github.com":
        if rfc := RFC.fullmatch(parts.path):
            return None if text == rfc[1] else "the text is not the number"
        thread = THREAD.fullmatch(parts.path)
        if thread is None:
            return "no issue and no pull request"
        if parts.path.split("/")[1:3] == ["pytorch", "pytorch"]:
            return None if text == f"#{thread[1]}" else "the text is not the number"
    if parts.hostname == "docs.pytorch.org" and not parts.path.startswith(
        "/docs/stable/"
    ):
        return "not the stable documentation"
    return None


def links() -> list[tuple[str, str, str]]:
    """Page, text and address of each link; not those of code."""
    return [
        (page.relative_to(DOCS).as_posix(), *found)
        for page in PAGES
        for found in LINK.findall(FENCE.sub("", page.read_text()))
    ]


@pytest.mark.parametrize(("page", "text", "address"), links())
def test_the_form_of_a_link(page: str, text: str, address: str) -> None:
    assert fault(text, address) is None


def test_no_address_stands_outside_of_a_link() -> None:
    for page in PAGES:
        text = FENCE.sub("", page.read_text())
        bare = set(ANY.findall(LINK.sub("", re.sub(r"`[^`]*`", "", text))))
        assert not bare, f"{page.name}: write [text](address) for {bare}"


def test_a_thread_has_one_address() -> None:
    """GitHub also answers for an issue below /pull/: the second form is a mistake."""
    kinds: dict[str, set[str]] = {}
    for _, _, address in links():
        if "/pytorch/pytorch/" in address:
            kinds.setdefault(address.rpartition("/")[2], set()).add(address)
    assert len(kinds) > 15 and all(len(found) == 1 for found in kinds.values())


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("a", "http://docs.pytorch.org/docs/stable/amp.html"),
        ("a", "https://example.org/"),
        ("a", "https://docs.pytorch.org/docs/2.1/amp.html"),
        ("a", "https://docs.pytorch.org/docs/stable/amp.html?x=1"),
        ("#1", "https://github.com/pytorch/pytorch/issues/2"),
        ("RFC-1", "https://github.com/pytorch/rfcs/blob/master/RFC-0050-Relay.md"),
        ("a", "https://github.com/pytorch/pytorch/blob/main/README.md"),
    ],
)
def test_a_link_of_another_form_is_found(text: str, address: str) -> None:
    assert fault(text, address)


def test_the_addresses_of_the_names() -> None:
    found = addresses()
    assert len(found) > 200
    assert {fault("", address) for address in found.values()} == {None}
    memory = "generated/torch.accelerator.memory.empty_cache.html"
    assert found["torch.accelerator.empty_cache"].endswith(memory)
    assert found["record_stream"].endswith("generated/torch.Tensor.record_stream.html")


def test_each_counterpart_of_the_driver_has_an_address() -> None:
    text = (DOCS / "ship/driver-map.md").read_text()
    names = set(re.findall(r"`((?:cuda|cupti|nccl)[A-Z]\w+)`", text))
    assert len(names) > 50 and names <= set(addresses()), names - set(addresses())


def test_each_name_is_used() -> None:
    text = "".join(page.read_text() for page in PAGES)
    used = {name for name in addresses() if re.search(rf"`{re.escape(name)}\W", text)}
    unused = {n for n in set(addresses()) - used if "torch.accelerator." not in n}
    assert not unused, f"remove {unused} from api_links.toml"


def test_the_first_use_is_a_link(tmp_path: Path) -> None:
    text = """# Page of `cudaMalloc`

Call `cudaFree`, then `cudaMalloc()` and `cudaMalloc`. Not `cudaMalloc(8)`.

A [link to `cudaMemcpy`](https://docs.nvidia.com).
"""
    settings = 'extensions.append("site_api_links")\n'
    built = build(tmp_path, {"index.md": text}, settings=settings)
    assert built.code == 0, built.messages
    page = built.text("index.html")
    memory = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__MEMORY.html"
    assert page.count(memory) == 2
    assert "[`cudaMalloc()`](" in built.text("index.md")
