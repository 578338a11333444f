"""The licences of what is shipped, read by people: a package that is not here does not get into an image unseen."""

from __future__ import annotations

# By Debian's source package: SPDX expressions for what is shipped of them.
_KNOWN = {
    # Texts of licences, which say nothing of their own.
    "base-files": "NOASSERTION",
    "boost1.81": "BSL-1.0",
    "ca-certificates": "MPL-2.0",
    "cli11": "BSD-3-Clause",
    "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "linux": "GPL-2.0-only WITH Linux-syscall-note",
    "llvm-toolchain-19": "Apache-2.0 WITH LLVM-exception",
    "nghttp2": "MIT",
    "openssl": "Apache-2.0",
    "prometheus-cpp": "MIT",
    "spdlog": "MIT",
    "yaml-cpp": "MIT",
    "zlib": "Zlib",
}
# Those whose whole text Debian keeps in one place for all its packages (/usr/share/common-licenses).
_COMMON = {
    "Apache-2.0": "Apache-2.0",
    "GPL-3.0-or-later WITH GCC-exception-3.1": "GPL-3",
    "LGPL-2.1-or-later": "LGPL-2.1",
    "MPL-2.0": "MPL-2.0",
}
# What is compiled into a program under these needs no notice beside it.
_SILENT = {"BSL-1.0", "Apache-2.0 WITH LLVM-exception", "GPL-2.0-only WITH Linux-syscall-note"}


def of(source: str) -> str:
    """The licence of what is made from that source (ValueError if nobody has looked)."""
    if source not in _KNOWN:
        raise ValueError(f"nobody has looked at the licence of {source}, which is to be shipped: add it to {__file__}")
    return _KNOWN[source]


def wants_notice(source: str) -> bool:
    """Whether its text has to be shipped with programs that it is compiled into."""
    return of(source) not in _SILENT


def common_text(source: str) -> str | None:
    """The name of its text among Debian's common licences, if its packages only refer to that."""
    return _COMMON.get(of(source))
