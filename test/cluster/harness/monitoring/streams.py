"""kubectl's streams, as the stories about them ask for them: logs, exec and port-forward through the virtual node."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from ..cluster import audit
from ..cluster.api import Api
from ..cluster.pki import Pair
from ..story import Story
from ..tools.terminal import Terminal
from ..wait import patient, wait_for

STREAMS = "liqod_kubelet_streams{"


def logs(story: Story, *arguments: object) -> str:
    return story.consumer.kubectl("-n", story.namespace, "logs", "one", *arguments)


def executing(story: Story, *command: object, options: tuple[str, ...] = ()) -> list[str]:
    """The command line of `kubectl exec` in rome."""
    kubectl = story.consumer.kubectl_command("-n", story.namespace, "exec", *options, "one", "--", *command)
    return story.consumer.space.entering(kubectl)


def attaching(story: Story, *options: str) -> list[str]:
    """The command line of `kubectl attach` in rome."""
    return story.consumer.space.entering(
        story.consumer.kubectl_command("-n", story.namespace, "attach", "one", *options)
    )


def run(command: list[str], stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=stdin, capture_output=True, timeout=patient(120))


def kubectl(story: Story, *arguments: object, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """kubectl in rome, in the story's namespace, whatever comes of it."""
    command = story.consumer.kubectl_command("-n", story.namespace, *arguments)
    return run(story.consumer.space.entering(command), stdin)


def inside(story: Story, script: str) -> str:
    """What a script says in the container, asked of the provider itself."""
    return story.provider.kubectl("-n", story.twin, "exec", "one", "--", "sh", "-c", script)


def see_resized(shell: Terminal, rows: int, columns: int) -> None:
    """Waits until a shell in the container knows of a size, which is told on its own way, beside what is typed."""
    shell.resize(rows, columns)
    shell.type(f"until stty size | grep -q ^{rows}; do sleep 0.2; done; stty size\n")
    shell.read_until(f"{rows} {columns}")


@contextmanager
def forwarding(story: Story, *arguments: object) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """`kubectl port-forward` in rome, and the ports at home, in the order in which they were asked for."""
    process = story.consumer.kubectl_started("-n", story.namespace, "port-forward", *arguments)
    try:
        assert process.stdout
        ports: list[int] = []
        while len(ports) < sum(1 for word in arguments if str(word)[-1].isdigit() and ":" in str(word)):
            line = process.stdout.readline().decode()
            assert line, process.communicate()[1]
            # kubectl also listens on [::1] if there is one.
            if line.startswith("Forwarding from 127.0.0.1:"):
                ports.append(int(line.split(":")[1].split()[0]))
        yield process, ports
    finally:
        process.kill()
        process.communicate()


def wait_no_streams(story: Story) -> None:
    """Waits until liqod in rome counts nobody's stream any more."""

    def none_open() -> bool:
        found = {name: value for name, value in story.home.metrics().items() if name.startswith(STREAMS)}
        assert found and not any(found.values()), found
        return True

    wait_for(none_open, 30, "all streams to be over")


def exec_requests(story: Story, since: int, resource: str = "pods/exec") -> list[tuple[str, int]]:
    """Verb and answer of each exec, or port-forward, that milan was asked for by rome's liqod."""
    entries = story.provider.audit.entries(since)
    return [
        (entry["verb"], audit.code(entry))
        for entry in entries
        if audit.user(entry) == story.peering.user and audit.resource(entry) == resource
        if entry.get("stage") in ("ResponseComplete", "ResponseStarted")
    ]


def kubelet_port(story: Story, user: Pair | str | None) -> Api:
    authority = story.consumer.authority.pair.certificate
    return Api(story.consumer.space, story.consumer.address, story.kubelet_port, authority, user)


def log_of(story: Story) -> str:
    return f"/containerLogs/{story.namespace}/one/main"
