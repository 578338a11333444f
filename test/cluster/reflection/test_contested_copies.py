"""A copy that a controller of the provider writes, too, is left to it after a few turns, and its object at home says so."""

from __future__ import annotations

from harness.cluster.api import APPLY, path
from harness.story import Story
from harness.wait import stays, wait_for

SOON = 60
# Three looks of up to 23 s each, and the Event.
GIVEN_UP = 100
NAME = "istio-ca-root-cert"


def test_two_meshes_write_their_root_certificate_into_one_twin(story: Story) -> None:
    """istiod keeps a ConfigMap of one name in every namespace, at home and at the provider."""
    home, there = story.consumer.api, story.provider.api
    body = {"kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"root-cert.pem": "ROME"}}
    home.create("configmaps", story.namespace, body)

    def value() -> str:
        return (there.find("configmaps", story.twin, NAME) or {}).get("data", {}).get("root-cert.pem", "")

    wait_for(lambda: value() == "ROME", SOON, "the ConfigMap to be copied")
    overwritings = 0

    def keep() -> None:
        """What istiod of the provider does."""
        nonlocal overwritings
        if value() == "MILAN":
            return
        query = "?fieldManager=pilot-discovery&force=true"
        theirs = {"apiVersion": "v1", **body, "data": {"root-cert.pem": "MILAN"}}
        there.request("PATCH", path("configmaps", story.twin, NAME) + query, theirs, APPLY)
        overwritings += 1

    def told() -> list[str]:
        events = home.list("events", story.namespace, fields="reason=CopyOverwritten")
        return [event["message"] for event in events if event["involvedObject"]["name"] == NAME]

    def is_told() -> list[str]:
        keep()
        return told()

    messages = wait_for(is_told, GIVEN_UP, "it to be told that the copy is overwritten", interval=0.5)
    assert len(messages) == 1 and '"pilot-discovery"' in messages[0] and story.provider.name in messages[0], messages
    assert overwritings == 3, f"it was overwritten {overwritings} times"
    stays(lambda: value() == "MILAN" and len(told()) == 1, 40, "the provider's certificate", interval=1)

    # The copy has our labels still, and goes with its object.
    home.delete("configmaps", story.namespace, NAME)
    wait_for(lambda: there.find("configmaps", story.twin, NAME) is None, SOON, "the copy to be gone")
