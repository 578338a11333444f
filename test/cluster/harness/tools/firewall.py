"""Reads the table of the pod firewall from its source, and finds fields of a schema that have no row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[4] / "src/core/admission/pod_firewall_table.cpp"
Schema = Mapping[str, Any]


def rows() -> dict[tuple[str, str], tuple[str, str]]:
    """(type, field) -> (type of what is in it or "", rule)."""
    text = SOURCE.read_text(encoding="utf-8")
    table = text[text.index("constexpr FirewallRow table[] = {") :]
    table = table[: table.index("\n};")]
    literal = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    # Several rows may share a reason, which has a name then.
    pattern = re.compile(rf"\{{{literal},\s*{literal},\s*{literal},\s*([\w:<>&]+),\s*(?:{literal}|\w+)\}},")

    def joined(literals: str) -> str:
        return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))

    found: dict[tuple[str, str], tuple[str, str]] = {}
    for kind, fields, of, rule, _ in pattern.findall(table):
        for field in joined(fields).split(" "):
            found[joined(kind), field] = joined(of), rule
    return found


def fields_without_a_row(schema: Schema, resolve: Callable[[Schema], Schema] = lambda schema: schema) -> list[str]:
    """The paths of a PodSpec's schema that the table does not know; `resolve` follows references."""
    table, missing = rows(), list[str]()

    def walk(node: Schema, kind: str, path: str, above: tuple[str, ...]) -> None:
        for field, child in resolve(node).get("properties", {}).items():
            here = f"{path}.{field}"
            if (kind, field) not in table:
                missing.append(f"{here} ({kind})")
                continue
            of, rule = table[kind, field]
            child = resolve(child)
            while "items" in child:
                child = resolve(child["items"])
            # Fields below one that is always refused need no row.
            if rule == "refused" or of in above:
                continue
            if of:
                walk(child, of, here, (*above, of))
            elif "properties" in child:
                missing.append(f"{here} has fields, and its row says that it has none")

    walk(schema, "PodSpec", "spec", ("PodSpec",))
    return missing


def resolver(document: Schema) -> Callable[[Schema], Schema]:
    """Follows `$ref` and the one-element `allOf` of an OpenAPI v3 document."""

    def resolve(node: Schema) -> Schema:
        while True:
            if "allOf" in node and len(node["allOf"]) == 1:
                node = node["allOf"][0]
            elif "$ref" in node:
                node = document["components"]["schemas"][node["$ref"].rpartition("/")[2]]
            else:
                return node

    return resolve
