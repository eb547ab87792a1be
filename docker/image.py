#!/usr/bin/python3
"""Dockerfile and compose.yaml where there is no Docker engine: lint them, run the Dockerfile's steps in chroots,
run the services of compose.yaml as plain processes in the result. Called by check.sh.
usage: image.py lint | build BASE OUT | compose IMAGE"""
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCKERFILE = ROOT / "docker/Dockerfile"
COMPOSE = ROOT / "docker/compose.yaml"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


# ------------------------------------------------------------------------------------------ reading


def stages():
    """[{"from": image, "name": name or None, "steps": [(instruction, rest)]}]"""
    found = []
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(), flags=re.M)
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if not line.strip():
            continue
        instruction, rest = line.split(None, 1)
        if instruction == "FROM":
            words = rest.split()
            found.append({"from": words[0], "name": words[2] if len(words) == 3 else None, "steps": []})
        else:
            found[-1]["steps"].append((instruction, rest))
    return found


def copy_words(rest):
    """(stage it copies from or None, [sources], destination)"""
    words = rest.split()
    stage = words.pop(0).split("=", 1)[1] if words[0].startswith("--from=") else None
    return stage, words[:-1], words[-1]


def environment(stage):
    return dict(pair.split("=", 1) for op, rest in stage["steps"] if op == "ENV" for pair in shlex.split(rest))


def image_health(stage):
    return next((json.loads(rest.split("CMD", 1)[1]) for op, rest in stage["steps"] if op == "HEALTHCHECK"), None)


def compose():
    return yaml.safe_load(COMPOSE.read_text())


# --------------------------------------------------------------------------------------------- lint


def context_files():
    """What the build gets to see: git's files that .dockerignore leaves."""
    tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True,
                             text=True).stdout.split("\n")
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    kept = set()
    for name in filter(None, tracked):
        ignored = False
        for rule in rules:
            pattern = rule.lstrip("!")
            if fnmatch.fnmatch(name, pattern) or name.startswith(pattern + "/"):
                ignored = not rule.startswith("!")
        if not ignored:
            kept.add(name)
    return kept


def lint_copies(number, stage, kept, names):
    for op, rest in stage["steps"]:
        if op == "ADD":
            yield f"stage {number}: ADD fetches and unpacks; use COPY"
        if op != "COPY":
            continue
        origin, sources, _ = copy_words(rest)
        if origin and origin not in names:
            yield f"stage {number}: COPY from {origin}, which is no earlier stage"
        for source in sources if not origin else ():
            if not any(name == source or name.startswith(source.rstrip("/") + "/") for name in kept):
                yield f"stage {number}: COPY {source}: not among the files that the build sees"


def lint_packages(number, stage):
    listed = {line.split()[0] for line in (ROOT / "docker/packages.txt").read_text().splitlines()
              if line and not line.startswith("#")}
    for op, rest in stage["steps"]:
        if op == "RUN" and re.search(r"(^|[;&|(]\s*)(apt|apt-get|dpkg|pip|curl|wget)\b", rest):
            yield f"stage {number}: RUN {rest}: packages come from packages.txt by install.sh"
        for purposes in re.findall(r"install\.sh ([a-z ]+)", rest) if op == "RUN" else ():
            yield from (f"stage {number}: packages.txt has no purpose {p}" for p in purposes.split() if p not in listed)


def lint_dockerfile():
    kept, names = context_files(), set()
    for number, stage in enumerate(stages(), 1):
        if not re.fullmatch(r"debian:bookworm-slim", stage["from"]):
            yield f"stage {number}: from {stage['from']}, not debian:bookworm-slim"
        yield from lint_copies(number, stage, kept, names)
        yield from lint_packages(number, stage)
        names.add(stage["name"])
    last = stages()[-1]
    users = [rest for op, rest in last["steps"] if op == "USER"]
    if not users or users[-1] in ("root", "0"):
        yield "the image runs as root"
    if not image_health(last) or not any(op == "VOLUME" for op, _ in last["steps"]):
        yield "the image has no HEALTHCHECK or no VOLUME"
    if any(re.search("PASSWORD|TOKEN|SECRET", key) for stage in stages() for key in environment(stage)):
        yield "a secret stands in ENV"


def lint_service(name, service, document):
    if "restart" not in service:
        yield f"{name}: no restart policy"
    if "healthcheck" not in service and "build" not in service:
        yield f"{name}: no healthcheck of its own, and its image has none"
    for key, value in service.get("environment", {}).items():
        if "password" in f"{key}={value}".lower() and not key.endswith("_FILE"):
            yield f"{name}: {key} holds a password; use a secret's file"
    for volume in service.get("volumes", []):
        if volume.split(":")[0] not in document["volumes"]:
            yield f"{name}: volume {volume} is not declared"
    for secret in service.get("secrets", []):
        if secret not in document["secrets"]:
            yield f"{name}: secret {secret} is not declared"


def lint():
    document = compose()
    bad = list(lint_dockerfile())
    for name, service in document["services"].items():
        bad += lint_service(name, service, document)
    owners = [v for s in document["services"].values() for v in s.get("volumes", [])]
    bad += [f"volume {v} has two owners" for v in set(owners) if owners.count(v) > 1]
    print("\n".join(bad) if bad else f"image: {len(stages())} stages, {len(document['services'])} services")
    return 1 if bad else 0


# -------------------------------------------------------------------------------------------- build


def proxies():
    return {k: v for k, v in os.environ.items() if k in ("http_proxy", "https_proxy", "no_proxy")}


def run_step(root, directory, variables, command):
    """One RUN, as root in the chroot."""
    script = f"cd {shlex.quote(directory)} && {command}"
    subprocess.run(["chroot", str(root), "/bin/sh", "-c", script], check=True,
                   env={"PATH": PATH, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", **proxies(), **variables})


def copy_step(root, directory, origin, rest):
    _, sources, destination = copy_words(rest)
    target = pathlib.Path(root) / os.path.join(directory, destination).lstrip("/")
    for source in sources:
        path = pathlib.Path(origin) / source.lstrip("/")
        into = target / path.name if path.is_file() and (destination.endswith("/") or len(sources) > 1) else target
        into.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, into, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(path, into)


def build_stage(stage, root, roots):
    directory = "/"
    for op, rest in stage["steps"]:
        print(f"{op} {rest}", flush=True)
        if op == "WORKDIR":
            directory = rest
            (root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif op == "COPY":
            copy_step(root, directory, roots.get(copy_words(rest)[0], ROOT), rest)
        elif op == "RUN":
            run_step(root, directory, environment(stage), rest)


def build(base, out):
    """Each stage in a copy of the base; the last one is moved to out."""
    with tempfile.TemporaryDirectory(prefix="assay-image-", dir=pathlib.Path(out).parent) as work:
        roots = {}
        for number, stage in enumerate(stages(), 1):
            root = pathlib.Path(work) / str(number)
            subprocess.run(["cp", "-a", "--reflink=auto", base, root], check=True)
            build_stage(stage, root, roots)
            roots[stage["name"]] = root
        root.rename(out)
    return 0


# ------------------------------------------------------------------------------------------ compose


class Service:
    """One service of compose.yaml as a plain process in the image: its own volume, secrets and mounts."""

    def __init__(self, name, service, image, directory, secret):
        self.name, self.service, self.image = name, service, image
        self.volume, self.secrets, self.log = (directory / f"{name}-{part}" for part in ("volume", "secrets", "log"))
        self.volume.mkdir()
        self.volume.chmod(0o755)
        self.secrets.mkdir()
        for kept in service.get("secrets", []):
            (self.secrets / kept).write_text(secret)
            (self.secrets / kept).chmod(0o444)
        self.process = None

    def environment(self):
        return {"PATH": PATH, **environment(stages()[-1]), **self.service.get("environment", {})}

    def start(self, user, command, mount_at):
        script = (f"mkdir -p {self.image}/run/secrets && mount --bind {self.secrets} {self.image}/run/secrets && "
                  f"mount --bind {self.volume} {self.image}{mount_at} && "
                  f"exec chroot --userspec={user} {self.image} {shlex.join(command)}")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(["unshare", "--mount", "--propagation=private", "sh", "-c", script],
                                            env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def run(self, command, user="assay", **options):
        """A command inside, as `docker compose exec` runs one."""
        inside = ["nsenter", "--target", str(self.process.pid), "--mount", "chroot", f"--userspec={user}", self.image]
        return subprocess.run([*inside, *command], env=self.environment(), capture_output=True, text=True, timeout=300,
                              **options)

    def healthcheck(self):
        own = self.service.get("healthcheck", {}).get("test")
        return own[1:] if own else image_health(stages()[-1])

    def wait_healthy(self, seconds=180):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.process.poll() is None:
            done = self.run(self.healthcheck(), "postgres" if self.name == "database" else "assay")
            if done.returncode == 0:
                print(f"{self.name}: healthy", flush=True)
                return
            time.sleep(0.5)
        raise SystemExit(f"{self.name} is not healthy: {done}\n{self.log.read_text()[-3000:]}")

    def stop(self, number=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            return self.process.wait(120)
        return None


def start_database(service):
    """What the entry point of the official image does: initdb, the database, a listener."""
    variables = service.service["environment"]
    owner = subprocess.run(["chroot", service.image, "id", "-u", "postgres"], check=True, capture_output=True, text=True)
    os.chown(service.volume, int(owner.stdout), -1)
    data = service.service["volumes"][0].split(":")[1]
    (pathlib.Path(service.image) / data.lstrip("/")).mkdir(parents=True, exist_ok=True)
    programs = "/usr/lib/postgresql/15/bin"
    script = (f"{programs}/initdb -D {data} --username={variables['POSTGRES_USER']} --auth-host=scram-sha-256 --auth-local=trust "
              f"--pwfile={variables['POSTGRES_PASSWORD_FILE']} {variables['POSTGRES_INITDB_ARGS']} && echo \"create database "
              f"{variables['POSTGRES_DB']}\" | {programs}/postgres --single -D {data} postgres && exec {programs}/postgres -D {data} "
              f"-c listen_addresses=127.0.0.1 -c unix_socket_directories=/var/run/postgresql")
    service.start("postgres", ["sh", "-c", script], data)


def pictures():
    """The four IDX files of a set that is easily learnt: two classes, dark and bright."""
    def part(n):
        labels = bytes(i % 2 for i in range(n))
        pixels = b"".join(bytes((40 + 150 * (i % 2) + (7 * i + j) % 30) for j in range(64)) for i in range(n))
        return (struct.pack(">IIII", 0x803, n, 8, 8) + pixels, struct.pack(">II", 0x801, n) + labels)

    (train, labels), (test, answers) = part(200), part(50)
    return {"train-images-idx3-ubyte": train, "train-labels-idx1-ubyte": labels, "t10k-images-idx3-ubyte": test,
            "t10k-labels-idx1-ubyte": answers}


def finish_a_job(server, workers):
    """Submitted inside the server's container; both workers take part."""
    inside = pathlib.Path(server.volume) / "files"
    inside.mkdir()
    for name, content in pictures().items():
        (inside / name).write_bytes(content)
    made = server.run(["assay", "dataset", "create", "--name", "easy", "--layout", "idx",
                       *(f"/var/lib/assay/files/{name}" for name in pictures())])
    identity = re.search("[0-9a-f]{32}", made.stdout)
    if made.returncode != 0 or not identity:
        raise SystemExit(f"no data set: {made}")
    (inside / "job.json").write_text(json.dumps({
        "kind": "solver_comparison", "dataset": identity[0], "seeds": [1, 2, 3, 4], "training": {"epochs": 20, "batch_size": 8}}))
    done = server.run(["assay", "submit", "/var/lib/assay/files/job.json", "--watch"])
    if done.returncode != 0 or done.stdout.count("completed") < 12:
        raise SystemExit(f"the job: {done}")
    busy = [w.name for w in workers if any((w.volume / "work").rglob("*"))]
    print(f"a job of 12 trials is completed; workers: {', '.join(busy)}", flush=True)


def compose_run(image):
    document = compose()["services"]
    hosts = pathlib.Path(image) / "etc/hosts"
    hosts.write_text("127.0.0.1 localhost " + " ".join(document) + "\n")
    with tempfile.TemporaryDirectory(prefix="assay-compose-") as directory:
        work = pathlib.Path(directory)
        work.chmod(0o755)
        owner = subprocess.run(["chroot", image, "id", "-u", "assay"], check=True, capture_output=True, text=True).stdout
        services = {n: Service(n, s, image, work, "it's \\ secret") for n, s in document.items()}
        try:
            for name, service in services.items():
                if name == "database":
                    start_database(service)
                else:
                    os.chown(service.volume, int(owner), -1)
                    service.start("assay", ["assay", *service.service["command"]], "/var/lib/assay")
                service.wait_healthy()
            finish_a_job(services["server"], [s for n, s in services.items() if n.startswith("worker")])
            saved = services["server"].run(["assay", "backup", "/var/lib/assay"])
            if saved.returncode != 0:
                raise SystemExit(f"backup: {saved}")
            ended = {n: s.stop() for n, s in services.items() if n != "database"}
            if any(ended.values()):
                raise SystemExit(f"not stopped in order: {ended}")
            print("stopped in order", flush=True)
        finally:
            for service in services.values():
                service.stop(signal.SIGINT)
    return 0


if __name__ == "__main__":
    verbs = {"lint": lint, "build": build, "compose": compose_run}
    if len(sys.argv) < 2 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    sys.exit(verbs[sys.argv[1]](*sys.argv[2:]))
