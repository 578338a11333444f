"""tools/reference as a module: it reads what the programs say of themselves."""

import importlib.util
import pathlib
import sys
from importlib.machinery import SourceFileLoader

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[3] / "tools/reference"


@pytest.fixture(scope="session")
def reference():
    loader = SourceFileLoader("reference", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("reference", loader))
    # Modules beside the tool, as if it was run.
    sys.path.insert(0, str(TOOL.parent))
    # Data classes look themselves up here.
    sys.modules["reference"] = module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module
