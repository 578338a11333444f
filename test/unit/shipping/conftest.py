"""Lets these tests import what tools/image and tools/release are made of."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))
