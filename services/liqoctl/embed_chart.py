"""Writes the C++ file that holds the YAML files of the chart: embed_chart.py OUTPUT FILE..."""

import sys
from pathlib import Path

DELIMITER = "CHART"

output, *files = sys.argv[1:]
parts = ['#include "chart.hpp"', "namespace liqoctl {", "namespace {", "const std::string_view texts[] = {"]
for file in files:
    text = Path(file).read_text(encoding="utf-8")
    assert f'){DELIMITER}"' not in text, file
    parts.append(f'R"{DELIMITER}({text}){DELIMITER}",')
parts += ["};", "}  // namespace", "std::span<const std::string_view> chart_files() { return texts; }", "}  // namespace liqoctl"]
Path(output).write_text("\n".join(parts) + "\n", encoding="utf-8")
