"""Writes the C++ file that holds the files of the chart: embed_chart.py OUTPUT CHART FILE..."""

import sys
from pathlib import Path

DELIMITER = "CHART"

output, chart, *files = sys.argv[1:]
parts = ['#include "installation/chart.hpp"', "namespace liqoctl {", "namespace {", "const chart::File files[] = {"]
for file in files:
    text = Path(file).read_text(encoding="utf-8")
    assert f'){DELIMITER}"' not in text, file
    path = Path(file).resolve().relative_to(Path(chart).resolve())
    parts.append(f'{{"{path}", R"{DELIMITER}({text}){DELIMITER}"}},')
parts += ["};", "}  // namespace", "std::span<const chart::File> chart_files() { return files; }", "}  // namespace liqoctl"]
Path(output).write_text("\n".join(parts) + "\n", encoding="utf-8")
