"""examples/slice-class: its rules, and what it says to an API server that is one in name only."""

import http.server
import importlib.util
import json
import pathlib
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

PATH = pathlib.Path(__file__).resolve().parents[3] / "examples/slice-class/pool.py"


def load():
    spec = importlib.util.spec_from_file_location("pool", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["pool"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


pool = load()
POOL = pool.read_pool("cpu=8,pods=100")
NOW = "2026-01-01T00:00:00Z"


def a_slice(name, cpu, *, granted=None, reason="", pods="10", age=1, **metadata):
    one = {
        "metadata": {"name": name, "namespace": "liqo-tenant-rome", "uid": name, "resourceVersion": "7",
                     "creationTimestamp": f"2026-01-01T00:00:{age:02}Z", **metadata},
        "spec": {"class": "pool", "resources": {"cpu": cpu, "pods": pods}},
    }  # fmt: skip
    conditions = [{"type": "Authentication", "status": "Accepted"}]
    if reason:
        status = "Accepted" if reason == pool.GRANTED else "Denied"
        conditions.append(
            {"type": "Resources", "status": status, "reason": reason, "message": "", "lastTransitionTime": "x"}
        )
    one["status"] = {"conditions": conditions}
    if granted:
        one["status"]["resources"] = {"cpu": granted, "pods": pods}
    return one


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", 2), ("500m", Fraction(1, 2)), ("1.5", Fraction(3, 2)), ("16Gi", 16 * 2**30), ("1k", 1000), ("2M", 2_000_000),
     ("3n", Fraction(3, 10**9)), ("1u", Fraction(1, 10**6)), ("1e3", 1000), ("5E", 5 * 10**18), ("1Ei", 2**60), (7, 7)],
)  # fmt: skip
def test_amounts_are_read_as_kubernetes_writes_them(text, value):
    assert pool.amount(text) == value


@pytest.mark.parametrize("text", ["", "much", "1 Gi", "NaN", "1e9999", "9" * 1000])
def test_what_is_no_amount_is_said(text):
    with pytest.raises(ValueError, match="is no amount of a resource"):
        pool.amount(text)


@pytest.mark.parametrize(
    ("value", "text"), [("2048Mi", "2Gi"), ("1500m", "1500m"), ("0", "0"), ("12", "12"), ("1Ki", "1024")]
)
def test_amounts_are_written_for_people(value, text):
    assert pool.written(pool.amount(value)) == text


@pytest.mark.parametrize(
    ("wanted", "others", "says"),
    [
        (a_slice("a", "8"), [], "it fits"),
        (a_slice("a", "8001m"), [], "8001m of cpu is more than the 8 that is left"),
        (
            a_slice("a", "3"),
            [a_slice("b", "6", granted="6", reason="FromPool")],
            "3 of cpu is more than the 2 that is left",
        ),
        (a_slice("a", "2"), [a_slice("b", "6", granted="6", reason="FromPool")], "it fits"),
        # Of a denied edit counts what it has, not what it asks for.
        (a_slice("a", "2"), [a_slice("b", "60", granted="6", reason="PoolExhausted")], "it fits"),
        (a_slice("a", "3"), [a_slice("b", "60", granted="6", reason="PoolExhausted")], "more than the 2"),
        (a_slice("a", "-1"), [], "less than nothing"),
        (a_slice("a", "many"), [], "'many' is no amount"),
        # It has that since the pool was larger.
        (a_slice("a", "9", granted="9", reason="FromPool"), [], "it fits"),
        (a_slice("a", "9", granted="9", reason="ResourceSliceResourcesAccepted"), [], "more than the 8"),
    ],
)
def test_who_gets_what(wanted, others, says):
    answer = pool.decide(wanted, others, POOL)
    assert says in answer.message and answer.accepted == (says == "it fits")
    assert answer.resources == (wanted["spec"]["resources"] if answer.accepted else None)


def test_every_resource_of_the_pool_is_to_be_named_and_no_other():
    one = a_slice("a", "1")
    one["spec"]["resources"] = {"cpu": "1"}
    assert pool.decide(one, [], POOL).message == "say how much pods is wanted"
    one["spec"]["resources"] = {"cpu": "1", "pods": "1", "nvidia.com/gpu": "1"}
    assert pool.decide(one, [], POOL).message == "the pool has no nvidia.com/gpu: leave that out"


def test_a_denied_edit_leaves_what_is_granted():
    one = a_slice("a", "9", granted="4", reason="FromPool")
    patch = pool.status_patch(one, pool.decide(one, [], POOL), NOW)
    assert "resources" not in patch["status"] and patch["metadata"] == {"resourceVersion": "7"}
    kept, said = patch["status"]["conditions"]
    assert kept == {"type": "Authentication", "status": "Accepted"}
    assert (said["status"], said["reason"], said["lastTransitionTime"]) == ("Denied", "PoolExhausted", NOW)


def test_a_key_that_is_not_granted_any_more_is_taken_away():
    one = a_slice("a", "2", granted="2", reason="FromPool")
    one["status"]["resources"]["memory"] = "1Gi"
    patch = pool.status_patch(one, pool.decide(one, [], POOL), NOW)
    assert patch["status"]["resources"] == {"cpu": "2", "pods": "10", "memory": None}


def test_what_is_said_already_is_not_written_again():
    one = a_slice("a", "2", granted="2", reason="FromPool")
    one["status"]["conditions"][1]["message"] = "it fits into the pool"
    assert pool.status_patch(one, pool.decide(one, [], POOL), NOW) is None


@pytest.mark.parametrize("reason", pool.OF_LIQO)
def test_what_liqo_has_said_of_the_tenant_stays(reason):
    one = a_slice("a", "2", reason=reason)
    assert pool.status_patch(one, pool.decide(one, [], POOL), NOW) is None


class Api(http.server.BaseHTTPRequestHandler):
    """Lists what it has, says on a watch what it is told to say, and takes patches."""

    slices, events, patches, refuse = [], [], [], {}

    def do_GET(self):
        if "watch=true" not in self.path:
            self._say(200, {"metadata": {"resourceVersion": "7"}, "items": self.slices})
        else:
            self._say(200, *self.events)

    def do_PATCH(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.path.split("/")[-2]
        if code := self.refuse.get(name):
            self._say(code, {})
            return
        self.patches.append((self.path, self.headers["Content-Type"], body))
        (one,) = [one for one in self.slices if one["metadata"]["name"] == name]
        self._say(200, one | {"status": one["status"] | body["status"]})

    def _say(self, code, *objects):
        text = "".join(json.dumps(one) + "\n" for one in objects).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def api():
    handler = type("Handler", (Api,), {"slices": [], "events": [], "patches": [], "refuse": {}})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    handler.url = f"http://127.0.0.1:{server.server_port}"
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def answers(api):
    said = {}
    for path, _, body in api.patches:
        said.setdefault(path.split("/")[-2], []).append(body["status"]["conditions"][-1]["status"])
    return said


def test_it_answers_what_is_there_and_what_comes(api):
    api.slices = [a_slice("second", "6", age=2), a_slice("first", "5", age=1)]
    other = a_slice("other", "1")
    other["spec"]["class"] = "gold"
    api.slices.append(other)
    going = a_slice("first", "5", granted="5", reason="FromPool", age=1, deletionTimestamp=NOW)
    api.events = [
        {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "8"}}},
        # Until it is gone it has what it has.
        {"type": "MODIFIED", "object": going},
        {"type": "DELETED", "object": going},
    ]
    pool.Controller(pool.Server(api.url), "pool", POOL).run_once()
    assert answers(api) == {"first": ["Accepted"], "second": ["Denied", "Accepted"]}
    path, kind, body = api.patches[0]
    assert path == "/apis/authentication.liqo.io/v1beta1/namespaces/liqo-tenant-rome/resourceslices/first/status"
    assert kind == "application/merge-patch+json" and body["status"]["resources"] == {"cpu": "5", "pods": "10"}


def test_a_slice_without_anything_in_it_holds_up_no_other(api):
    empty = a_slice("empty", "1")
    del empty["spec"]
    api.slices = [empty, a_slice("first", "5")]
    pool.Controller(pool.Server(api.url), "pool", POOL).run_once()
    assert answers(api) == {"first": ["Accepted"]}


def test_an_echo_that_comes_late_takes_nothing_back(api):
    api.slices = [a_slice("first", "5", resourceVersion="9")]
    api.events = [{"type": "MODIFIED", "object": a_slice("first", "5", resourceVersion="8")}]
    pool.Controller(pool.Server(api.url), "pool", POOL).run_once()
    assert answers(api) == {"first": ["Accepted"]}


@pytest.mark.parametrize("code", [404, 409, 422])
def test_a_slice_that_cannot_be_answered_holds_up_no_other(api, code):
    api.slices, api.refuse = [a_slice("first", "5", age=1), a_slice("second", "6", age=2)], {"first": code}
    pool.Controller(pool.Server(api.url), "pool", POOL).run_once()
    assert answers(api) == {"second": ["Accepted"]}


def test_a_watch_that_has_become_too_old_ends(api, capsys):
    gone = {"kind": "Status", "code": 410, "message": "too old resource version"}
    api.events = [{"type": "ERROR", "object": gone}, {"type": "ADDED", "object": a_slice("late", "1")}]
    pool.Controller(pool.Server(api.url), "pool", POOL).run_once()
    assert not api.patches and "too old resource version" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--pool", "cpu=much"], "--pool: 'much' is no amount"),
        (["--pool", "cpu=1"], "this is no pod of a cluster: give --server"),
    ],
)
def test_a_wrong_command_line_is_said_in_a_sentence(flags, says):
    done = subprocess.run([sys.executable, PATH, *flags], capture_output=True, text=True, env={}, check=False)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr


def test_it_ends_at_once_when_it_is_told_to(api):
    command = [sys.executable, PATH, "--pool", "cpu=8,pods=100", "--server", api.url]
    api.slices = [a_slice("first", "5")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "liqo-tenant-rome/first: accepted: it fits into the pool\n"
        process.terminate()
        assert process.wait(10) == 0
