"""The tables of templates/_flags.tpl and _arguments.tpl: what Helm would render without a word, and liqod or its users would stumble over."""

import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHART = ROOT / "charts/liqo"


def expanded():
    """The template with the values that its variables stand for."""
    text = (CHART / "templates/_flags.tpl").read_text(encoding="utf-8")
    for variable, value in re.findall(r"{{- (\$\w+) := (\.Values[\w.]+)", text):
        text = text.replace(variable, value)
    return text


# Flag, form, value and condition of each row but those of the reflected kinds.
ROWS = re.findall(r'\(list +"([a-z-]+)" +"(\w+)" +(.*)$', expanded(), re.MULTILINE)
ARGUMENTS = (CHART / "templates/_arguments.tpl").read_text(encoding="utf-8")
# What sets a flag that may be given once.
SETTERS = dict(re.findall(r"^([a-z-]+): (.+)$", ARGUMENTS, re.MULTILINE))
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
# What liqoctl reads off an installation: flag or key of the sharing policy, and path of the value.
SHOWN = re.findall(
    r'{"([a-z-]+)[=:]*", Form::\w+, "([\w.]+)"}',
    (ROOT / "services/liqoctl/model/install/given_values.cpp").read_text(encoding="utf-8"),
)
SHOWN_FLAGS = [(name[2:], path) for name, path in SHOWN if name.startswith("--")]


def named_by(row):
    """The paths of the values that a row names."""
    return re.findall(r"\.Values\.([\w.]+)", row)


def at(path):
    found = VALUES
    for key in path.split("."):
        found = found[key]
    return found


def test_every_flag_is_one_of_liqod():
    flags = set(re.findall(r"`--([a-z-]+)`", (ROOT / "docs/flags.md").read_text(encoding="utf-8")))
    assert len(ROWS) > 40
    assert not [flag for flag, _, _ in ROWS if flag not in flags]


def test_a_flag_has_one_row_or_may_be_repeated():
    flags = [flag for flag, _, _ in ROWS]
    assert {flag for flag in flags if flags.count(flag) > 1} == {"pod-cidr"}


@pytest.mark.parametrize(("form", "row"), [row[1:] for row in ROWS], ids=[flag for flag, _, _ in ROWS])
def test_the_form_fits_the_value(form, row):
    kinds = {"word": (bool, int, str), "text": (str, list, dict), "each": (list,), "switch": (bool,)}[form]
    for path in named_by(row)[:1]:
        assert isinstance(at(path), kinds), path
        # A text would be rendered as Go writes lists and maps, and a number with an exponent.
        if not isinstance(at(path), (str, bool)) and form != "each":
            assert row.startswith("(int64 " if isinstance(at(path), int) else ('(join "," ', '(include "liqo.pairs" ')), row


@pytest.mark.parametrize("path", sorted({path for _, _, row in ROWS for path in named_by(row)}))
def test_every_value_is_one_of_the_chart(path):
    at(path)


@pytest.mark.parametrize(("flag", "path"), SHOWN_FLAGS)
def test_liqoctl_finds_values_in_the_flags_that_say_them(flag, path):
    rows = [named_by(row) for name, _, row in ROWS if name == flag]
    assert any(path == named[0] for named in rows if named)


def may_be_repeated(flag):
    """Whether the page of flags says so of the flag, or that it takes a list."""
    (row,) = re.findall(rf"^\| `--{flag}`.*$", (ROOT / "docs/flags.md").read_text(encoding="utf-8"), re.MULTILINE)
    return bool(re.search(r"repeated|more than once|key,\.\.\.", row))


def test_what_may_be_given_once_has_something_that_sets_it():
    once = {flag for flag, _, _ in ROWS if not may_be_repeated(flag)}
    # Those of all kinds have two lines, and no value sets the last.
    assert SETTERS.keys() == once - {"pod-reflection-workers", "leader-elect"}
    assert len(SETTERS) > 25 and {"listen-port", "node-ip", "metrics-secure"} <= SETTERS.keys()


@pytest.mark.parametrize(("flag", "setter"), [*SETTERS.items()])
def test_a_refusal_names_a_value_that_sets_the_flag(flag, setter):
    rows = [named_by(row) for name, _, row in ROWS if name == flag]
    if flag == "liqo-namespace":
        assert setter == "the namespace of the installation"
    else:
        path = setter.removeprefix("value ")
        at(path)
        # Rows that include a template name no value.
        assert any(path in row or not row for row in rows)


def test_what_the_sharing_policy_says_is_no_further_argument():
    policy = (CHART / "templates/sharing-policy.yaml").read_text(encoding="utf-8").partition("data:")[2]
    refused = dict(re.findall(r'^  "([a-z-]+)" "([\w.]+)"$', ARGUMENTS, re.MULTILINE))
    assert refused.keys() == set(re.findall(r"^ +([a-z-]+): ", policy, re.MULTILINE))
    assert set(refused.values()) == set(re.findall(r"\.Values\.([\w.]+)", policy))
    shown = {name: path for name, path in SHOWN if not name.startswith("--")}
    assert shown.items() <= refused.items()
