#!/usr/bin/python3
"""Row 4.6: a backup made while a trial runs, restored on a machine that has nothing but the image of docker/: the
history is equal by SQL, the trial goes on to the same curve. usage: backup.py IMAGE (of docker/check.sh run IMAGE)"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import psycopg2

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import assay  # noqa: E402
from sql_history import history, rows  # noqa: E402


class Machine(assay.Daemon):
    """assayd in the image: its own mounts, the image's programs and PostgreSQL, the user of the image."""

    def __init__(self, image):
        super().__init__(ASSAY_DATA_DIR="/var/lib/assay", ASSAY_POLL_SECONDS="1")
        self.image = pathlib.Path(image)

    def inside(self, *command):
        mounts = f"mount -t proc proc {self.image}/proc && mount --bind /dev {self.image}/dev"
        return ["unshare", "--mount", "--propagation=private", "sh", "-c",
                f'{mounts} && exec chroot --userspec=assay {self.image} "$@"', "sh", *command]

    def environment(self):
        return {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **self.options}

    def run(self, *command):
        return subprocess.run(self.inside(*command), env=self.environment(), capture_output=True, text=True, timeout=600)

    def start(self, timeout=300):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.inside("assay"), env=self.environment(), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        self.wait_ready(timeout)

    def database(self):
        data = self.image / "var/lib/assay"
        return psycopg2.connect(host=str(data / "pg-socket"), user="assay", dbname="assay",
                                password=(data / "pg-password").read_text().strip())


def connect(daemon):
    data = daemon.directory / "data"
    return psycopg2.connect(host=str(data / "pg-socket"), user="assay", dbname="assay",
                            password=(data / "pg-password").read_text().strip())


def wait(condition, seconds=300):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.1)
    raise SystemExit("it did not come about in time")


def curve(daemon, trial):
    return daemon.get(f"/v1/trials/{trial}/metrics?names=training_loss&max_points=100000")["metrics"]


def running_trial(source, dataset):
    """(job, trial, pid) with a checkpoint in the database; the process is stopped, so that it does not end."""
    job = source.submit({"kind": "solver_comparison", "dataset": dataset["id"], "name": "long", "training": {
        "epochs": 400, "batch_size": 8, "solver": "sgdm", "checkpoint_interval_seconds": 1}})
    connection = connect(source)
    connection.autocommit = True
    wait(lambda: rows(connection, "select 1 from checkpoint c join trial t on t.id = c.trial_id where t.job_id = %s "
                                  "and c.blob_id is not null and t.state = 'running'", job["id"]))
    [pid] = source.pids("trial")
    os.kill(pid, signal.SIGSTOP)
    return job, source.trials(job["id"])[0]["id"], pid


def save(source, path):
    """A history with a finished job and a running trial, and its backup."""
    dataset = source.create_dataset(assay.blobs_idx(), "idx", name="blobs")
    done = source.submit({"kind": "solver_comparison", "dataset": dataset["id"], "seeds": [1, 2], "explain": {"samples": 2},
                          "training": {"epochs": 3, "batch_size": 32}})
    source.wait_job(done["id"])
    job, trial, pid = running_trial(source, dataset)
    began = time.monotonic()
    subprocess.run([assay.BINARY, "backup", str(path)], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "ASSAY_DATA_DIR": str(source.directory / "data")})
    seconds = time.monotonic() - began
    with connect(source) as connection:
        kept = history(connection, job["id"])
    os.kill(pid, signal.SIGCONT)
    source.wait_job(job["id"])
    assay.print_row(row=4.6, what="backup while a trial runs", seconds=round(seconds, 2), bytes=path.stat().st_size,
                    tables=len(kept), passed=True)
    return kept, job, trial


def main(image):
    with assay.Daemon(ASSAY_POLL_SECONDS="1", ASSAY_CHECKPOINT_STORE_SECONDS="1") as source:
        target = Machine(image)
        path = target.image / "tmp/history.backup"
        path.unlink(missing_ok=True)
        kept, job, trial = save(source, path)
        shutil.chown(path, int(subprocess.run(["chroot", image, "id", "-u", "assay"], check=True, capture_output=True,
                                              text=True).stdout))
        began = time.monotonic()
        restored = target.run("assay", "restore", "/tmp/history.backup")
        seconds = time.monotonic() - began
        if restored.returncode != 0:
            raise SystemExit(f"restore: {restored}")
        with target:
            with target.database() as connection:
                found = history(connection, job["id"])
            differ = sorted(k for k in kept if found.get(k) != kept[k] and not k.startswith("public.blob"))
            [ended] = target.wait_job(job["id"])
            same = curve(source, trial) == curve(target, trial)
        passed = not differ and ended["state"] == "completed" and same
        assay.print_row(row=4.6, what="restored on an empty machine", seconds=round(seconds, 2), tables_and_views=len(kept),
                        differ=differ, trial=ended["state"], curve_equal=same, passed=passed)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
