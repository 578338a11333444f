"""The pages that are made from the code say what the code says."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools/reference"


def test_flags_commands_and_values_are_up_to_date():
    done = subprocess.run([sys.executable, TOOL, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


HELP = """About
it.
Usage: liqoctl do [OPTIONS] name

Positionals:
  name NAME REQUIRED          Name of it

Options:
  -h,--help                   Print this help message and exit
  --how WAY:{one,two}=one     Which way
  --listen-port UINT:INT in [1 - 65535]=10250
                              Port of it
  --part NAME=AMOUNT ...      Any | other
  --not{false}                No | more
[Option Group: Source]
  Where it comes from 
  [Exactly 1 of the following options is required]
  Options:
    --from NAME                 A name
    --out-of-a-file-with-a-name FILE
                                A file


Subcommands:
  one, first                  The first

Examples:
  liqoctl do it
It can be run
again.
"""


def test_help_is_read_as_it_is_written(reference):
    made = reference.read_help(HELP)
    assert (made.about, made.usage, made.examples, made.footer) == (
        "About it.", "liqoctl do [OPTIONS] name", ["liqoctl do it"], "It can be run again."
    )  # fmt: skip
    assert list(made.groups) == ["Positionals", "Options", "Where it comes from, exactly one"]
    Entry = reference.Entry
    assert made.groups["Positionals"] == [Entry("name", "NAME", "", "Name of it", True)]
    assert made.groups["Options"][1:] == [
        Entry("--how", "one, two", "one", "Which way"),
        Entry("--listen-port", "number from 1 to 65535", "10250", "Port of it"),
        Entry("--part", "NAME=AMOUNT; may be repeated", "", "Any | other"),
        Entry("--not", "", "", "No | more"),
    ]
    from_where = made.groups["Where it comes from, exactly one"]
    assert [one.names for one in from_where] == ["--from", "--out-of-a-file-with-a-name"]
    assert made.commands == [Entry("one,first", text="The first")]


def test_what_is_not_understood_is_not_left_out(reference):
    with pytest.raises(reference.Unknown):
        reference.read_help("About\nUsage: liqod\n\nOptions:\n  --one   One\nsomething else\n")


def test_comments_belong_to_the_keys_below_them(reference):
    said = reference.commented(
        "# Of the file.\n\n# One\n# line.\na: 1\nb: 2\n\n# Parts.\nc:\n  d: 1\n  # Another.\n  e: 2\n  f: 3\n\ng: 1\n"
    )
    one, parts, another = "One line.", "Parts.", "Another."
    assert said == {"a": one, "b": one, "c": parts, "c.d": parts, "c.e": another, "c.f": another, "g": ""}


LIQOD = """Liqo
Usage: liqod [OPTIONS]

Reflection:
  --pod-reflection-workers INT:INT in [1 - 9]=4
                              Pods worked on at a time, per virtual node
  --gadget-reflection-workers INT:INT in [0 - 9]=3
                              Gadgets worked on at a time, per provider
  --gadget-reflection-type TEXT:{DenyList,AllowList}=DenyList
                              Which Gadgets
  --ingress-reflection-workers INT:INT in [0 - 9]=3
                              Ingresses worked on at a time, per provider
  --slice-reflection-workers INT:INT in [0 - 9]=3
                              Slices worked on at a time, per provider
"""


@pytest.fixture
def kinds(reference):
    return reference.chart_kinds.kinds_of(reference.read_help(LIQOD).groups["Reflection"])


def test_kinds_are_read_off_the_flags(kinds):
    said = [(kind.name, kind.plural, kind.types) for kind in kinds]
    assert said == [
        ("gadget", "Gadgets", ["DenyList", "AllowList"]), ("ingress", "Ingresses", []), ("slice", "Slices", [])
    ]  # fmt: skip


def test_values_of_a_new_kind_are_added_and_what_is_written_by_hand_stays(reference, kinds):
    before = """reflection:
    # kinds: made by tools/reference

    ingress:
      # Old.
      workers: 1
      # Offered
      # classes.
      classes:
        # The first.
        - name: one
    withdrawn:
      workers: 1
    # kinds: until here

    custom: []
"""
    after = reference.chart_kinds.values(before, kinds)
    assert after == """reflection:
    # kinds: made by tools/reference

    gadget:
      # Gadgets worked on at a time, per provider.
      workers: 3
      # Which Gadgets.
      type: DenyList
    ingress:
      # Ingresses worked on at a time, per provider.
      workers: 3
      # Offered
      # classes.
      classes:
        # The first.
        - name: one
    slice:
      # Slices worked on at a time, per provider.
      workers: 3
    # kinds: until here

    custom: []
"""
    assert reference.chart_kinds.values(after, kinds) == after


def test_the_schema_of_a_new_kind_is_added_and_other_members_stay(reference, kinds):
    before = """{
      "service": 1,
        "reflection": {
          "properties": {
            "ingress": { "properties": { "workers": 1, "classes": { "$ref": "#/definitions/classes" } } },
            "skip": {"by":   "hand"}
          }
        },
            "slice": 1
}
"""
    workers = '"workers": { "type": "integer", "minimum": 0, "maximum": 9 }'
    after = reference.chart_kinds.schema(before, kinds)
    assert after == """{
      "service": 1,
        "reflection": {
          "properties": {
            "gadget": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                WORKERS,
                "type": { "enum": ["DenyList", "AllowList"] }
              }
            },
            "ingress": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                WORKERS,
                "classes": { "$ref": "#/definitions/classes" }
              }
            },
            "slice": {
              "type": "object",
              "additionalProperties": false,
              "properties": { WORKERS }
            },
            "skip": {"by":   "hand"}
          }
        },
            "slice": 1
}
""".replace("WORKERS", workers)
    assert reference.chart_kinds.schema(after, kinds) == after


def test_a_file_without_the_lines_of_the_kinds_is_refused(reference, kinds):
    with pytest.raises(ValueError, match="until here"):
        reference.chart_kinds.template("# kinds: made by tools/reference\n", kinds)
