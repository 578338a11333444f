"""Writes the C++ file that holds the files of the chart, packed: embed_chart.py OUTPUT CHART FILE..."""

import gzip
import sys
from pathlib import Path

output, chart, *files = sys.argv[1:]
texts = [Path(file).read_bytes() for file in files]
paths = [Path(file).resolve().relative_to(Path(chart).resolve()) for file in files]
# The same files give the same bytes at any time.
packed = gzip.compress(b"".join(texts), mtime=0)
lines = [
    '#include "installation/packed_chart.hpp"',
    "namespace liqoctl {",
    "namespace {",
    "constexpr unsigned char bytes[] = {",
    *(",".join(str(byte) for byte in packed[at : at + 40]) + "," for at in range(0, len(packed), 40)),
    "};",
    "constexpr PackedChart::Entry entries[] = {",
    *(f'{{"{path}", {len(text)}}},' for path, text in zip(paths, texts, strict=True)),
    "};",
    "}  // namespace",
    "PackedChart packed_chart() { return {.gzip = bytes, .entries = entries}; }",
    "}  // namespace liqoctl",
]
Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")
