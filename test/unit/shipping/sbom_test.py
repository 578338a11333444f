"""The list of what is in the image has the shape that SPDX 2.3 asks for."""

import hashlib
import json
import re

import pytest
from shipping import licences, sbom
from shipping.archive import Directory, File
from shipping.debian import Package
from shipping.root import Root

LIBRARY = Package("libyaml-cpp0.7", "0.7.0+dfsg-8~deb12u1", "amd64", "yaml-cpp")
HEADERS = Package("libcli11-dev", "2.1.2-1", "all", "cli11")


@pytest.fixture
def document():
    library = "usr/lib/x86_64-linux-gnu/libyaml-cpp.so.0.7"
    entries = {"usr": Directory(), "usr/bin/liqod": File(b"liqod", 0o755), library: File(b"yaml")}
    return sbom.document(Root(entries, {library: LIBRARY}), [HEADERS, HEADERS], "0.1.0", "debian-12", time=1700000000)


def test_it_says_what_it_is(document):
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    assert document["SPDXID"] == "SPDXRef-DOCUMENT"
    assert document["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", document["documentNamespace"])


def test_every_package_has_a_version_and_a_licence(document):
    found = {one["name"]: (one["versionInfo"], one["licenseDeclared"]) for one in document["packages"]}
    assert found == {
        "liqo-image": ("0.1.0", "NOASSERTION"),
        "liqo": ("0.1.0", "Apache-2.0"),
        "kube": ("0.1.0", "Apache-2.0"),
        "libyaml-cpp0.7": ("0.7.0+dfsg-8~deb12u1", "MIT"),
        "libcli11-dev": ("2.1.2-1", "BSD-3-Clause"),
    }
    (library,) = [one for one in document["packages"] if one["name"] == "libyaml-cpp0.7"]
    (reference,) = library["externalRefs"]
    purl = "pkg:deb/debian/libyaml-cpp0.7@0.7.0%2Bdfsg-8~deb12u1?arch=amd64&distro=debian-12"
    assert reference["referenceLocator"] == purl


def test_every_file_is_of_a_package_and_has_its_digests(document):
    files = {one["fileName"]: one["checksums"] for one in document["files"]}
    assert set(files) == {"./usr/bin/liqod", "./usr/lib/x86_64-linux-gnu/libyaml-cpp.so.0.7"}
    assert {"algorithm": "SHA256", "checksumValue": hashlib.sha256(b"liqod").hexdigest()} in files["./usr/bin/liqod"]
    relations = document["relationships"]
    contained = {one["relatedSpdxElement"] for one in relations if one["relationshipType"] == "CONTAINS"}
    assert {one["SPDXID"] for one in document["files"]} <= contained
    (library,) = [one for one in document["packages"] if one["name"] == "libyaml-cpp0.7"]
    sha1 = hashlib.sha1(b"yaml").hexdigest()
    code = library["packageVerificationCode"]["packageVerificationCodeValue"]
    assert library["filesAnalyzed"] and code == hashlib.sha1(sha1.encode()).hexdigest()


def test_identifiers_are_good_unique_and_known(document):
    ids = [one["SPDXID"] for one in (*document["packages"], *document["files"])]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids)
    for relation in document["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= {*ids, "SPDXRef-DOCUMENT"}
    kinds = {(one["relationshipType"], one["relatedSpdxElement"]) for one in document["relationships"]}
    assert ("DYNAMIC_LINK", "SPDXRef-Package-libyaml-cpp0.7") in kinds
    assert ("STATIC_LINK", "SPDXRef-Package-libcli11-dev") in kinds


def test_the_same_content_has_the_same_name_and_other_content_another(document):
    def name(content, time):
        made = sbom.document(Root({"a": File(content)}), [], "0.1.0", "debian-12", time=time)
        json.dumps(made)
        return made["documentNamespace"]

    assert name(b"a", 1) == name(b"a", 2) != name(b"b", 1)


def test_a_licence_that_nobody_has_looked_at_is_not_shipped():
    with pytest.raises(ValueError, match="nobody has looked at the licence of left-pad"):
        licences.of("left-pad")
