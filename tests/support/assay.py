"""A real daemon for tests: starts assayd with its own data directory and port, talks to it over
HTTP, finds and kills its processes. Used by tests/api, tests/chaos and tests/accept."""
import functools
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import requests

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ASSAYD", str(ROOT / "build/release/assayd"))
TERMINAL = {"completed", "stopped", "cancelled", "failed"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def processes():
    """{pid: (parent pid, [arguments])} of every process that can be read."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()
                args = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0")
            except OSError:
                continue
            if stat[0] != "Z":
                found[int(entry)] = (int(stat[1]), [a.decode(errors="replace") for a in args if a])
    return found


def replacing(put):
    """A function that puts a curve in the place of another: done anew when the service packed the chunks of an ended trial at
    that moment."""
    import psycopg2  # not everybody who starts a daemon has it

    @functools.wraps(put)
    def put_anew(*args, **kwargs):
        for _ in range(5):
            try:
                return put(*args, **kwargs)
            except psycopg2.errors.UniqueViolation:
                continue
        raise AssertionError("the curve was not replaced")
    return put_anew


class Daemon:
    """One assayd with everything below it; arguments such as ["serve"] pick a role. A context
    manager."""

    def __init__(self, arguments=(), **options):
        self.arguments = list(arguments)
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-", dir="/tmp"))
        self.directory.chmod(0o755)
        self.port = free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"
        self.options = {"ASSAY_DATA_DIR": str(self.directory / "data"), "ASSAY_LISTEN": self.host, **options}
        self.log = self.directory / "assayd.log"
        self.process = None
        self.session = requests.Session()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, timeout=300):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([BINARY, *self.arguments], env={**env, **self.options}, stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        self.wait_ready(timeout)

    def wait_ready(self, timeout=300):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"assayd ended with {self.process.returncode}:\n{self.tail()}")
            try:
                if self.session.get(self.url + "/readyz", timeout=5).status_code == 200:
                    return
            except requests.RequestException:
                pass
            time.sleep(0.05)
        raise RuntimeError(f"assayd is not ready after {timeout} s:\n{self.tail()}")

    def tail(self, size=4000):
        return self.log.read_text(errors="replace")[-size:]

    def stop(self, timeout=60):
        if self.process is None:
            return
        tree = self.tree()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pid in tree:
            try:
                os.kill(pid, 0)
                if "postgres" not in processes().get(pid, (0, [""]))[1][0:1]:
                    os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        self.process = None

    def tree(self):
        """{pid: arguments} of all processes below the parent."""
        table = processes()
        below, frontier = {}, [self.process.pid]
        while frontier:
            top = frontier.pop()
            for pid, (parent, args) in table.items():
                if parent == top and pid not in below:
                    below[pid] = args
                    frontier.append(pid)
        return below

    def pids(self, role):
        """Pids of a role: "serve", "work", "trial", "import", "postgres" (the postmaster) or "parent"."""
        if role == "parent":
            return [self.process.pid]
        if role == "postgres":
            found = [pid for pid, args in self.tree().items() if "-D" in args and "postgres" in args[0]]
        else:
            found = [pid for pid, args in self.tree().items() if args[1:2] == [role]]
        table = processes()  # a child that has just been forked still bears its parent's arguments
        return [pid for pid in found if table.get(pid, (0, []))[0] not in found]

    # ------------------------------------------------------------------------------------ HTTP

    def request(self, method, path, **kwargs):
        return self.session.request(method, self.url + path, timeout=kwargs.pop("timeout", 60), **kwargs)

    def get(self, path, **kwargs):
        answer = self.request("GET", path, **kwargs)
        assert answer.status_code == 200, f"GET {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def post(self, path, body=None, status=(200, 201, 202), **kwargs):
        answer = self.request("POST", path, json=body, **kwargs)
        assert answer.status_code in status, f"POST {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def create_dataset(self, files, layout, name="set", wait=True, **extra):
        """files: {name: bytes}. Returns the data set once it is ready or refused."""
        declared = [{"name": n, "size": len(b)} for n, b in files.items()]
        made = self.post("/v1/datasets", {"name": name, "layout": layout, "files": declared, **extra})
        for file_name, content in files.items():
            answer = self.request("PUT", f"/v1/datasets/{made['id']}/files/{file_name}", data=content,
                                  headers={"Content-Type": "application/octet-stream"})
            assert answer.status_code in (200, 202, 204), f"PUT {file_name}: {answer.status_code} {answer.text}"
        return self.wait_dataset(made["id"]) if wait else made

    def wait_dataset(self, dataset_id, timeout=600):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            found = self.get(f"/v1/datasets/{dataset_id}")
            if found["state"] in ("ready", "refused"):
                return found
            time.sleep(0.1)
        raise AssertionError(f"data set still {found['state']}:\n{self.tail()}")

    def submit(self, spec, **kwargs):
        return self.post("/v1/jobs", spec, status=(201,), **kwargs)

    def trials(self, job_id):
        return self.get(f"/v1/jobs/{job_id}/trials?limit=500")["items"]

    def wait_job(self, job_id, timeout=900, states=TERMINAL):
        """The job's trials once all of them are in one of the states."""
        deadline = time.monotonic() + timeout
        trials = []
        while time.monotonic() < deadline:
            try:
                trials = self.trials(job_id)
                if trials and all(t["state"] in states for t in trials):
                    return trials
            except (requests.RequestException, AssertionError):
                pass  # a chaos test may have the server or the database down at this moment
            time.sleep(0.2)
        raise AssertionError(f"job still {[t['state'] for t in trials]}:\n{self.tail()}")


# ---------------------------------------------------------------------------------------- data


def idx(array):
    """An IDX file of a uint8 array."""
    return struct.pack(">HBB", 0, 8, array.ndim) + b"".join(struct.pack(">I", d) for d in array.shape) + array.tobytes()


def blobs_idx(n_train=400, n_test=100, classes=3, side=12, seed=0, noise=40):
    """A learnable set as the four IDX files: class k has a bright square at its own place."""
    import numpy as np
    rng = np.random.default_rng(seed)

    def part(n):
        labels = (np.arange(n) % classes).astype(np.uint8)
        rng.shuffle(labels)
        images = rng.integers(0, noise + 1, (n, side, side), dtype=np.uint8)
        for i, k in enumerate(labels):
            row, column = divmod(int(k) * 3, side - 3)
            images[i, row * 3:row * 3 + 3, column:column + 3] = 220
        return images, labels

    train, test = part(n_train), part(n_test)
    return {"train-images-idx3-ubyte": idx(train[0]), "train-labels-idx1-ubyte": idx(train[1]),
            "t10k-images-idx3-ubyte": idx(test[0]), "t10k-labels-idx1-ubyte": idx(test[1])}


def print_row(**row):
    """One JSON line of an acceptance run."""
    print(json.dumps(row), flush=True)
