#!/usr/bin/python3
"""Row 12: a worker in another network namespace, with a directory of its own, that is given only the
address of a PostgreSQL that it reaches over TCP, takes trials; blobs arrive. As root.

PostgreSQL and `assayd serve` run here, `assayd work` alone in the namespace.
usage: second_worker.py     one JSON line
"""
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.assay import BINARY, Daemon, blobs_idx, free_port, print_row  # noqa: E402

NAMESPACE, HERE, THERE = "assay-accept", "10.213.7.1", "10.213.7.2"
PG = "/usr/lib/postgresql/15/bin/"
SPEC = {"kind": "solver_comparison", "training": {"epochs": 2, "batch_size": 32}}


def sh(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


def network_up():
    sh("ip", "netns", "add", NAMESPACE)
    sh("ip", "link", "add", "assay-here", "type", "veth", "peer", "name", "assay-there")
    sh("ip", "link", "set", "assay-there", "netns", NAMESPACE)
    sh("ip", "addr", "add", f"{HERE}/30", "dev", "assay-here")
    sh("ip", "link", "set", "assay-here", "up")
    sh("ip", "netns", "exec", NAMESPACE, "ip", "addr", "add", f"{THERE}/30", "dev", "assay-there")
    sh("ip", "netns", "exec", NAMESPACE, "ip", "link", "set", "assay-there", "up")


def network_down():
    sh("ip", "link", "del", "assay-here", check=False)
    sh("ip", "netns", "del", NAMESPACE, check=False)


def postgres_up(directory, port):
    """A cluster that listens on the pair's address with a password; returns its process."""
    user = pwd.getpwnam("postgres")
    os.chown(directory, user.pw_uid, user.pw_gid)
    password = directory / "password"
    password.write_text("accept\n")
    os.chown(password, user.pw_uid, user.pw_gid)
    data = str(directory / "pg")
    as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    sh(*as_postgres, PG + "initdb", "-D", data, "-U", "assay", "-A", "scram-sha-256", f"--pwfile={password}",
       "-E", "UTF8", "--locale=C.UTF-8")
    with open(directory / "pg/pg_hba.conf", "a", encoding="utf-8") as hba:
        hba.write(f"host all all {HERE}/30 scram-sha-256\n")
    process = subprocess.Popen([*as_postgres, PG + "postgres", "-D", data, "-p", str(port), "-h", HERE, "-k", str(directory)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    conninfo = f"host={HERE} port={port} user=assay password=accept dbname=postgres"
    deadline = time.monotonic() + 30
    while sh("psql", conninfo, "-Atc", "create database assay", check=False).returncode and time.monotonic() < deadline:
        time.sleep(0.2)
    return process, conninfo.replace("dbname=postgres", "dbname=assay")


def main():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="assay-second-", dir="/tmp"))
    directory.chmod(0o755)
    network_down()
    network_up()
    postgres = worker = None
    try:
        postgres, conninfo = postgres_up(directory, free_port())
        with Daemon(arguments=["serve"], ASSAY_DATABASE=conninfo) as server:
            env = {**os.environ, "ASSAY_DATABASE": conninfo, "ASSAY_DATA_DIR": str(directory / "worker")}
            with open(directory / "worker.log", "wb") as log:
                worker = subprocess.Popen(["ip", "netns", "exec", NAMESPACE, BINARY, "work"], env=env,
                                          stdout=log, stderr=log)
            dataset = server.create_dataset(blobs_idx(), "idx")["id"]
            trials = server.wait_job(server.submit({**SPEC, "dataset": dataset})["id"])
            states = [t["state"] for t in trials]
            cached = sum(p.stat().st_size for p in (directory / "worker").rglob("*") if p.is_file())
        print_row(row=12, states=states, bytes_in_the_workers_directory=cached,
                  log_tail=(directory / "worker.log").read_text(errors="replace")[-300:] if set(states) != {"completed"} else "")
        return 0 if set(states) == {"completed"} and cached > 0 else 1
    finally:
        for process in (worker, postgres):
            if process:
                process.terminate()
                process.wait(30)
        network_down()
        shutil.rmtree(directory, ignore_errors=True)


sys.exit(main())
