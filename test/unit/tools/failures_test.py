"""The report of a long run, at its end, on what failed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

import failures


@pytest.mark.parametrize(
    "line",
    [
        "FAILED test_offload.py::test_a_pod - assert 1 == 2",
        "ERROR test_offload.py::test_a_pod",
        "seed 741: used is never more than hard: 7 of 5 cores",
        " 3/22 kube:unit / runtime          FAIL            0.52s   exit status 1",
        "TEST CASE:  a pod holds its share",
        "../test/unit/x_test.cpp:7: ERROR: CHECK( a == b ) is NOT correct!",
        "src/core/x.cpp:7:3: error: no member named 'y'",
        "==12==ERROR: AddressSanitizer: heap-use-after-free",
        "x.cpp:7:3: runtime error: signed integer overflow",
    ],
)
def test_a_line_that_says_what_failed_is_found(line):
    noise = "....F...\n 2/22 kube:unit / base     OK    0.52s\n12 passed in 3 s\n"
    assert failures.telling_lines(f"{noise}\n{line}\n{noise}\n{line}") == [line.rstrip()]


def test_what_looks_like_nothing_known_ends_as_it_ended():
    lines = [f"line {number}" for number in range(50)]
    assert failures.telling_lines("\n".join(lines)) == lines[-failures.MAX_LINES :]


def test_much_is_cut():
    seeds = [f"seed {number}: " + "x" * 1000 for number in range(30)]
    told = failures.telling_lines("\n".join(seeds))
    assert told[-1] == "... and 10 more"
    assert max(map(len, told)) == failures.MAX_CHARACTERS
