"""Builds real software from Go's module proxy, PyPI and Debian into images, for `build-tools apps`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import pins
from .root import Root

POSTGRES = "usr/lib/postgresql/15"
# Ray for other languages, and libraries upon it that no story imports.
UNUSED = ("ray/jars/", "ray/rllib/", "ray/llm/", "ray/data/tests", "ray/cpp/")


def build(name: str, go: str) -> bool:
    """Builds it with this Go command, unless it is there already: False."""
    place = pins.directory(name)
    if place.exists():
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as partial:
        made = Path(partial) / "made"
        made.mkdir()
        if name in pins.operators():
            build_operator(pins.operators()[name], go, made)
        else:
            {"ray": write_ray, "patroni": write_patroni}[name](made / "image.tar")
        made.rename(place)
    return True


def build_operator(operator: pins.Operator, go: str, directory: Path) -> None:
    """Builds the program in the source of its module, and copies the manifests beside the image."""
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": os.environ.get("GOTOOLCHAIN", "auto")}
    source = downloaded(operator, go, environment)
    program = directory / "manager"
    subprocess.run(
        [go, "build", "-C", source, "-trimpath", "-ldflags", "-s -w", "-o", program, operator.package],
        env=environment, check=True,
    )  # fmt: skip
    root = Root()
    root.add("manager", program.read_bytes(), 0o755)
    root.write(directory / "image.tar", operator.image)
    program.unlink()
    # Those of Kustomize name directories beside theirs.
    top = Path(operator.manifests).parts[0]
    target = directory / "manifests" / top
    shutil.copytree(source / top, target)
    for path in [target, *target.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


def downloaded(operator: pins.Operator, go: str, environment: dict[str, str]) -> Path:
    """Where Go keeps the source of the module, which has to be the one that is pinned."""
    asked = [go, "mod", "download", "-json", f"{operator.module}@{operator.version}"]
    # Outside of any module: the answer is about this one alone.
    answer = subprocess.run(asked, cwd="/", env=environment, stdout=subprocess.PIPE, text=True, check=False)
    said = json.loads(answer.stdout or "{}")
    what = f"{operator.module} {operator.version}"
    if answer.returncode != 0:
        raise SystemExit(f"build-tools: Go's module proxy has no {what}: {said.get('Error')}")
    if said["Sum"] != operator.digest:
        raise SystemExit(f"build-tools: {what} is {said['Sum']}, not {operator.digest}")
    return Path(said["Dir"])


def write_ray(target: Path) -> None:
    """Ray with its dashboard, whose agent the probes of KubeRay ask by wget."""
    root = Root()
    root.shell()
    root.python()
    root.link("usr/bin/python", "python3")
    root.wheels(pins.wheels("ray"), UNUSED)
    root.add("usr/bin/ray", b"#!/usr/bin/python3\nfrom ray.scripts.scripts import main\nmain()\n", 0o755)
    root.debian(pins.DEBIAN["ray"], [], ["usr/bin/wget"])
    root.write(target, pins.image_of("ray"))


def write_patroni(target: Path) -> None:
    """Patroni and PostgreSQL."""
    root = Root()
    root.shell()
    root.python()
    root.wheels(pins.wheels("patroni"))
    root.add("usr/bin/patroni", b"#!/usr/bin/python3\nfrom patroni.__main__ import main\nmain()\n", 0o755)
    programs = ("initdb", "pg_basebackup", "pg_controldata", "pg_ctl", "pg_isready", "pg_rewind", "postgres", "psql")
    modules = ("dict_snowball", "libpqwalreceiver", "plpgsql")
    needed = [f"{POSTGRES}/bin/{name}" for name in programs] + [f"{POSTGRES}/lib/{name}.so" for name in modules]
    root.debian(pins.DEBIAN["patroni"], ["usr/share/postgresql"], needed)
    # Debian's PostgreSQL reads those of the system.
    for zone in ("UTC", "Etc/UTC"):
        root.add(f"usr/share/zoneinfo/{zone}", Path("/usr/share/zoneinfo", zone).read_bytes())
    root.write(target, pins.image_of("patroni"))
