"""Commands, flags and versions that the pages type exist."""

import functools
import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs"
# known-gaps.md tells of what does not exist.
PAGES = [
    *(page for page in sorted(DOCS.glob("*.md")) if page.name != "known-gaps.md"),
    *(ROOT / page for page in ("README.md", "CHANGELOG.md", "charts/liqo/README.md", "examples/slice-class/README.md")),
    *(ROOT / page for page in ("CONTRIBUTING.md", "test/cluster/README.md")),
]


class Programs:
    """What liqod and liqoctl say of their commands and flags."""

    def __init__(self, reference):
        self._reference = reference
        self.help = functools.cache(self._help)

    def _help(self, *words: str):
        program = {"liqod": self._reference.LIQOD, "liqoctl": self._reference.LIQOCTL}[words[0]]
        return self._reference.read_help(self._reference.said_by(program, *words[1:], "--help"))

    def wrong(self, line: str) -> str:
        """What of a command line no --help knows."""
        program, *rest = re.sub(r"'[^']*'|\"[^\"]*\"", "x", re.sub(r"\s{2,}#.*", "", line)).split()
        known = [program]
        while rest and any(rest[0] in one.names.split(",") for one in self.help(*known).commands):
            known.append(rest.pop(0))
        shown, name = self.help(*known), " ".join(known)
        if shown.commands and rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]):
            return f"{name} has no command {rest[0]}"
        flags = [word.partition("=")[0].rstrip(".,;)") for word in rest if re.match(r"--?[a-z]", word)]
        options = {each for group in shown.groups.values() for one in group for each in one.names.split(",")}
        unknown = [flag for flag in flags if flag not in options]
        return f"{name} has no flag {', '.join(unknown)}" if unknown else ""


@pytest.fixture(scope="module")
def programs(reference) -> Programs:
    return Programs(reference)


def typed(page: pathlib.Path) -> list[str]:
    """Command lines of liqoctl and liqod: those of blocks, which may go on after a backslash, and those in the text."""
    text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = re.findall(r"^(?:    |\w+ \$ )\s*(liq(?:octl|od) [^|>\n]*)", re.sub(r"\\\n\s*", " ", text), re.MULTILINE)
    return [*lines, *re.findall(r"`(liq(?:octl|od) [^`]*)`", re.sub(r"\n\s*", " ", text))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_typed_exists(programs, page):
    assert not {line: programs.wrong(line) for line in typed(page) if programs.wrong(line)}


def test_a_wrong_command_is_seen(programs):
    assert len(typed(DOCS / "sharing.md")) > 30 and len(typed(DOCS / "operations.md")) > 15
    assert programs.wrong("liqoctl peer --cpus 2") == "liqoctl peer has no flag --cpus"
    assert programs.wrong("liqoctl drain quota rome") == "liqoctl drain has no command quota"
    assert programs.wrong("liqod --log-levels debug") == "liqod has no flag --log-levels"
    assert not programs.wrong("liqoctl create rs batch --remote-cluster-id milan --cpu=2  # --not a flag")


def lacks_an_image(line: str) -> bool:
    """Whether liqoctl would refuse it, or would reset the values that a file has: single values are not all."""
    return bool(re.match(r"liqoctl (install|upgrade) .*--set", line)) and not re.search(r"image\.repository=| -f ", line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_installs_has_an_image(page):
    assert not [line for line in typed(page) if lacks_an_image(line)]


def test_an_installation_without_an_image_is_seen():
    assert lacks_an_image("liqoctl install --cluster-id rome --set storage.enabled=true")
    assert not lacks_an_image("liqoctl upgrade -f rome.yaml --set storage.enabled=true")
    assert not lacks_an_image("liqoctl install --set image.repository=registry.example/liqo/liqod")


# What makes dist/ is typed in the tree. These pages are for those who have one, or tell of what was tried there.
MAKES_DIST = {"tools/release", "tools/image", "tools/demo", "build/image"}
OF_THE_TREE = {"architecture.md", "compatibility.md", "conformance.md", "decisions.md", "stories.md"}
FOR_USERS = [page for page in DOCS.glob("*.md") if page.name not in OF_THE_TREE | {"known-gaps.md"}]
FOR_USERS += [ROOT / "README.md", ROOT / "charts/liqo/README.md"]
IN_THE_TREE = re.compile(
    r"(?<![\w./-])(?:\./)?(?:bench|build|charts|examples|include|services|src|subprojects|test|tools)/[\w./-]*\w"
)


def paths_of_the_tree(text: str) -> set[str]:
    """Those that a page names to somebody who has only dist/; links lead there for who wants to look."""
    text = re.sub(r"\[[^\[\]]*\]\([^)\s]+\)|<!--.*?-->", "", text, flags=re.DOTALL)
    return set(IN_THE_TREE.findall(text)) - MAKES_DIST


@pytest.mark.parametrize("page", FOR_USERS, ids=lambda page: str(page.relative_to(ROOT)))
def test_users_need_nothing_of_the_tree(page):
    # The README is also for whoever wants to change Liqo.
    known = {"tools/test"} if page == ROOT / "README.md" else set()
    assert not paths_of_the_tree(page.read_text(encoding="utf-8")) - known


def test_a_path_of_the_tree_is_seen():
    text = "helm install liqo charts/liqo, [it](../charts/liqo/a), <!-- test/a --> `./tools/test`, tools/release x"
    assert paths_of_the_tree(f"{text} …/services/NAME/proxy/") == {"charts/liqo", "./tools/test"}


def files_of_pytest(page: pathlib.Path) -> dict[str, pathlib.Path]:
    """The files that command lines of a page give to pytest, and where it would look for them."""
    lines = re.findall(r"(tools/test cluster|-m pytest)((?: [^\s`#]+)+)", page.read_text(encoding="utf-8"))
    return {
        word: (ROOT if program == "tools/test cluster" else page.parent) / word
        for program, words in lines
        for word in words.split()
        if word.endswith(".py")
    }


def test_the_files_of_stories_that_are_typed_exist():
    pages = (ROOT / "CONTRIBUTING.md", ROOT / "test/cluster/README.md")
    found = {word: path for page in pages for word, path in files_of_pytest(page).items()}
    assert found and not [word for word, path in found.items() if not path.exists()]


def test_the_version_of_kubernetes_that_is_named_is_that_of_ci():
    page = (DOCS / "compatibility.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    module = (ROOT / "test/cluster/go.mod").read_text(encoding="utf-8")
    (kubernetes,) = re.findall(r"^\s*k8s\.io/kubernetes v([\d.]+)$", module, re.MULTILINE)
    assert f"| {kubernetes} | yes | yes | every story in CI" in page
    newest = kubernetes.rpartition(".")[0]
    assert re.search(rf"Kubernetes 1\.30 or later, of which 1\.\d+ to {re.escape(newest)} ", readme)
    # Those of the virtual node in what it shows.
    assert set(re.findall(r"\bv(1\.\d+\.\d+)\b", readme)) == {kubernetes}


def test_everybody_has_the_same_version(reference):
    meson = (ROOT / "meson.build").read_text(encoding="utf-8")
    (version,) = re.findall(r"^  version: '([\d.]+)',$", meson, re.MULTILINE)
    chart = yaml.safe_load((ROOT / "charts/liqo/Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (version, version)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\d\S+)", changes, re.MULTILINE)[0] == version
    assert reference.said_by(reference.LIQOD, "--version") == f"liqod {version}\n"
    assert reference.said_by(reference.LIQOCTL, "--version") == f"liqoctl {version}\n"
    assert reference.said_by(reference.LIQOCTL, "version", "--client") == f"Client version: {version}\n"
    docs = (f"docs/{name}.md" for name in ("first-steps", "image", "monitoring", "operations", "sharing"))
    for page in ("README.md", "charts/liqo/README.md", *docs):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert set(re.findall(r"(?:liqo[a-z]*[-:]|tools/release )(\d+\.\d+\.\d+)", text)) == {version}, page
