"""Writes what the chart and the pages say of the reflected kinds, from the flags that liqod has for each.

A kind has the value offloading.reflection.KIND.workers, and .type unless it follows another kind. tools/reference runs this.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

WIDTH = 120
# The first and the last line of what is made in a file, as comments there.
BEGIN, END = "kinds: made by tools/reference", "kinds: until here"
# These flags look like those of a kind, but pods are no copies.
OTHERS = {"pod"}


class Flag(Protocol):
    """An option as --help shows it."""

    names: str
    value: str
    default: str
    text: str


@dataclass(frozen=True)
class Kind:
    """A reflected kind by the name that its flags and values have, and what their help says."""

    name: str
    settings: dict[str, Flag]

    @property
    def plural(self) -> str:
        return self.settings["workers"].text.partition(" worked on ")[0]

    @property
    def types(self) -> list[str]:
        return self.settings["type"].value.split(", ") if "type" in self.settings else []


def kinds_of(flags: Iterable[Flag]) -> list[Kind]:
    kinds: dict[str, Kind] = {}
    for flag in flags:
        if (found := re.fullmatch(r"--(\w+)-reflection-(workers|type)", flag.names)) and found[1] not in OTHERS:
            kinds.setdefault(found[1], Kind(found[1], {})).settings[found[2]] = flag
    return list(kinds.values())


def between(text: str, write: Callable[[str], str]) -> str:
    """The text, with what stands between the two comments written anew."""
    found = re.search(rf"^[^\n]*{BEGIN}[^\n]*\n(.*?)^[^\n]*{END}", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise ValueError(f"no lines with {BEGIN!r} and {END!r}")
    return text[: found.start(1)] + write(found[1]) + text[found.end(1) :]


def own_values(region: str) -> dict[str, str]:
    """The values that single kinds have besides, with their comments: written by hand, and kept."""
    own: dict[str, str] = {}
    kind, comment, keeps = "", "", False
    for line in region.splitlines(keepends=True):
        if found := re.match(r" {4}(\w+):", line):
            kind, comment, keeps = found[1], "", False
        elif re.match(" {6}#", line):
            comment += line
        elif found := re.match(r" {6}(\w+):", line):
            keeps = found[1] not in ("workers", "type")
            if keeps:
                own[kind] = own.get(kind, "") + comment + line
            comment = ""
        elif keeps:
            own[kind] += line
    return own


def values(text: str, kinds: list[Kind]) -> str:
    """values.yaml"""

    def written(before: str) -> str:
        own, lines = own_values(before), []
        for kind in kinds:
            lines.append(f"    {kind.name}:\n")
            for name, flag in kind.settings.items():
                comment = textwrap.wrap(
                    f"{flag.text}.", WIDTH, initial_indent=" " * 6 + "# ", subsequent_indent=" " * 6 + "# ",
                    break_long_words=False, break_on_hyphens=False,
                )  # fmt: skip
                lines.append("\n".join([*comment, f"      {name}: {flag.default}\n"]))
            lines.append(own.get(kind.name, ""))
        return "\n" + "".join(lines)

    return between(text, written)


def flat(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)}: {flat(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(flat, value)) + "]"
    return json.dumps(value)


def laid_out(value: object, indent: str, used: int) -> str:
    """JSON in the layout of values.schema.json: a map is on one line if it fits behind the `used` characters there."""
    if not isinstance(value, dict) or len(indent) + used + len(flat(value)) < WIDTH:
        return flat(value)
    below = indent + "  "
    lines = [f"{below}{json.dumps(key)}: {laid_out(one, below, len(key) + 4)}" for key, one in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def schema_of(name: str, flag: Flag) -> dict[str, object]:
    if name == "type":
        return {"enum": flag.value.split(", ")}
    least, most = map(int, re.fullmatch(r"number from (\d+) to (\d+)", flag.value).groups())
    return {"type": "integer", "minimum": least, "maximum": most}


def schema(text: str, kinds: list[Kind]) -> str:
    """values.schema.json, whose layout is otherwise made by hand, and which can have no comments"""
    decode = json.JSONDecoder().raw_decode
    start = text.index('"reflection": {') + len('"reflection": ')
    stop = decode(text, start)[1]
    body = text[start:stop]
    indent, following = " " * 12, "skip"
    for kind in reversed(kinds):
        made = {name: schema_of(name, flag) for name, flag in kind.settings.items()}
        member = f"\n{indent}{json.dumps(kind.name)}: "
        if (at := body.find(member)) >= 0:
            before, end = decode(body, at + len(member))
            made |= {name: one for name, one in before.get("properties", {}).items() if name not in ("workers", "type")}
        else:
            at = end = body.index(f"\n{indent}{json.dumps(following)}: ")
        whole = {"type": "object", "additionalProperties": False, "properties": made}
        shown = member + laid_out(whole, indent, len(member) - 1 - len(indent))
        body = body[:at] + shown + ("," if at == end else "") + body[end:]
        following = kind.name
    return text[:start] + body + text[stop:]


def template(text: str, kinds: list[Kind]) -> str:
    """templates/_flags.tpl"""
    names = " ".join(json.dumps(kind.name) for kind in kinds)
    return between(text, lambda _: f"{{{{- $kinds := list {names} -}}}}\n")


def page(text: str, kinds: list[Kind]) -> str:
    """docs/reflection.md"""
    rows = ["| objects | name | types |", "|---|---|---|"]
    for kind in kinds:
        rows.append(f"| {kind.plural} | `{kind.name}` | {', '.join(f'`{one}`' for one in kind.types) or '–'} |")
    return between(text, lambda _: "\n" + "\n".join(rows) + "\n\n")


# Path of a file -> what makes its new text from the present one and the kinds.
PLACES: dict[str, Callable[[str, list[Kind]], str]] = {
    "charts/liqo/values.yaml": values,
    "charts/liqo/values.schema.json": schema,
    "charts/liqo/templates/_flags.tpl": template,
    "docs/reflection.md": page,
}
