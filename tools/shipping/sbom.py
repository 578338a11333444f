"""The contents of the image, as SPDX 2.3: packages with versions and licences, and every file with its digests."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from . import licences
from .archive import File
from .debian import Package
from .root import Root

_UNSAID = "NOASSERTION"


def stamp(time: int) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _id(*words: str) -> str:
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", word).strip("-") for word in words)


def _relation(one: str, kind: str, other: str) -> dict[str, str]:
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def _file(path: str, file: File) -> dict[str, Any]:
    sums = {"SHA1": hashlib.sha1(file.content, usedforsecurity=False), "SHA256": hashlib.sha256(file.content)}
    return {
        "SPDXID": _id("File", path),
        "fileName": f"./{path}",
        "checksums": [{"algorithm": name, "checksumValue": digest.hexdigest()} for name, digest in sums.items()],
        "licenseConcluded": _UNSAID,
        "licenseInfoInFiles": [_UNSAID],
        "copyrightText": _UNSAID,
    }


def _package(spdx_id: str, name: str, version: str, licence: str, **more: Any) -> dict[str, Any]:
    return {
        "SPDXID": spdx_id,
        "name": name,
        "versionInfo": version,
        "downloadLocation": _UNSAID,
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": _UNSAID,
        **more,
    }


def _debian(package: Package, release: str) -> dict[str, Any]:
    where = f"arch={package.architecture}&distro={release}"
    locator = f"pkg:deb/debian/{quote(package.name)}@{quote(package.version)}?{where}"
    return _package(
        _id("Package", package.name), package.name, package.version, licences.of(package.source),
        supplier="Organization: Debian", sourceInfo=f"built from the source package {package.source} of {release}",
        externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
        ],
    )  # fmt: skip


def _analyzed(package: dict[str, Any], files: dict[str, File]) -> dict[str, Any]:
    """A package whose files are all in the document."""
    sums = sorted(hashlib.sha1(file.content, usedforsecurity=False).hexdigest() for file in files.values())
    code = hashlib.sha1("".join(sums).encode(), usedforsecurity=False).hexdigest()
    return package | {
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": code},
        "licenseInfoFromFiles": [_UNSAID],
    }


def document(root: Root, compiled_in: Sequence[Package], version: str, release: str, *, time: int) -> dict[str, Any]:
    """The document about this root. `release` is the distribution, as in debian-12."""
    image, ours, kube = _id("Image"), _id("Package", "liqo"), _id("Package", "kube")
    packages = [_package(image, "liqo-image", version, _UNSAID, primaryPackagePurpose="CONTAINER")]
    files: list[dict[str, Any]] = []
    relations = [_relation("SPDXRef-DOCUMENT", "DESCRIBES", image)]

    def contain(package: dict[str, Any], its: dict[str, File]) -> None:
        packages.append(_analyzed(package, its))
        relations.append(_relation(image, "CONTAINS", package["SPDXID"]))
        for path, file in its.items():
            files.append(_file(path, file))
            relations.append(_relation(package["SPDXID"], "CONTAINS", files[-1]["SPDXID"]))

    contain(_package(ours, "liqo", version, "Apache-2.0", primaryPackagePurpose="APPLICATION"), root.files_of(None))
    # The library that Liqo stands on is of the same tree.
    packages.append(_package(kube, "kube", version, "Apache-2.0", primaryPackagePurpose="LIBRARY"))
    relations.append(_relation(ours, "STATIC_LINK", kube))
    shipped = sorted(set(root.packages.values()))
    for package in shipped:
        contain(_debian(package, release), root.files_of(package))
        if any(".so" in path for path in root.files_of(package)):
            relations.append(_relation(ours, "DYNAMIC_LINK", _id("Package", package.name)))
    for package in sorted(set(compiled_in)):
        if package not in shipped:
            packages.append(_debian(package, release))
        relations.append(_relation(ours, "STATIC_LINK", _id("Package", package.name)))
    # The same for the same content.
    digest = hashlib.sha256(json.dumps([packages, files, relations]).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"liqo-{version}-amd64",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "creationInfo": {"created": stamp(time), "creators": [f"Tool: liqo-image-{version}"]},
        "packages": packages,
        "files": files,
        "relationships": relations,
    }


def text(root: Root, compiled_in: Sequence[Package], version: str, release: str, *, time: int) -> bytes:
    """The document as JSON."""
    return (json.dumps(document(root, compiled_in, version, release, time=time), indent=1) + "\n").encode()
