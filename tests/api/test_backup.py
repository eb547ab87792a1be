"""Backup and restore: a trial runs meanwhile, the history is equal by SQL, the trial goes on; nothing else is taken."""
import hashlib
import os
import pathlib
import re
import signal
import subprocess
import time

import assay
import psycopg2
import pytest
from conftest import CheckedDaemon, spec, wait_until
from sql_history import TABLES, history, rows


def assayd(*arguments, timeout=300, **options):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    return subprocess.run([assay.BINARY, *map(str, arguments)], env={**env, **options}, capture_output=True, text=True,
                          timeout=timeout, stdin=subprocess.DEVNULL)


def address_of(daemon, database):
    """The connection string of a database on the daemon's own server."""
    password = (daemon.directory / "data/pg-password").read_text().strip()
    return f"host={daemon.database().get_dsn_parameters()['host']} user=assay password={password} dbname={database}"


@pytest.fixture(scope="module")
def source():
    """A daemon of its own with a finished job, and one whose trial runs."""
    with CheckedDaemon(ASSAY_POLL_SECONDS="1", ASSAY_CHECKPOINT_STORE_SECONDS="1") as running:
        dataset = running.create_dataset(assay.blobs_idx(), "idx", name="Bilder \u2603")
        job = running.submit(spec(dataset, name="finished", experiment="kept", seeds=[1, 2], explain={"samples": 2}))
        assert {t["state"] for t in running.wait_job(job["id"])} == {"completed"}
        yield running, dataset


@pytest.fixture(scope="module")
def saved(source, tmp_path_factory):
    """A backup made while a trial runs that has a checkpoint in the database: (file, history, job, its trial)."""
    daemon, dataset = source
    folder = tmp_path_factory.mktemp("backup")
    job = daemon.submit(spec(dataset, name="long", training={"epochs": 1500, "batch_size": 8, "solver": "sgdm",
                                                              "checkpoint_interval_seconds": 1}))
    connection = daemon.database()
    wait_until(lambda: rows(connection, "select 1 from checkpoint c join trial t on t.id = c.trial_id where t.job_id = %s and "
                                        "c.blob_id is not null and t.state = 'running'", job["id"]))
    [pid] = daemon.pids("trial")
    os.kill(pid, signal.SIGSTOP)  # so that it has not ended before the backup begins
    done = assayd("backup", folder, ASSAY_DATA_DIR=str(daemon.directory / "data"))
    trial = daemon.trials(job["id"])[0]
    before = history(connection, job["id"])
    os.kill(pid, signal.SIGCONT)
    assert done.returncode == 0 and trial["state"] == "running", (done, trial)
    daemon.wait_job(job["id"])  # what it leaves is what the restored one must leave
    [path] = folder.iterdir()
    assert path.name.startswith("assay-") and path.stat().st_mode & 0o777 == 0o600
    return path, before, job, trial


def curve(daemon, trial):
    return daemon.get(f"/v1/trials/{trial['id']}/metrics?names=training_loss&max_points=100000")["metrics"]


def test_on_an_empty_machine_the_history_is_equal_and_the_trial_goes_on(source, saved):
    path, before, job, trial = saved
    target = CheckedDaemon(ASSAY_POLL_SECONDS="1")
    data = target.directory / "data"
    done = assayd("restore", path, ASSAY_DATA_DIR=str(data))
    assert done.returncode == 0 and "1 that were under way" in done.stdout, done
    assert not any("postgres" in a[0] and str(data / "pg") in a for _, a in assay.processes().values() if a)
    with target:
        connection = target.database()
        after = history(connection, job["id"])
        differ = {k for k in before if after.get(k) != before[k]}
        assert differ <= {"public.blob", "public.blob_chunk"}, differ  # checkpoints of the trial that goes on
        assert rows(connection, "select count(*) from trial where (state = 'running') <> (lease_until is not null)") == [(0,)]
        assert [a["outcome"] for a in target.get(f"/v1/trials/{trial['id']}")["attempts"]][0] == "lost"
        [ended] = target.wait_job(job["id"])
        assert ended["state"] == "completed", ended
        assert [(o, r is not None and r > 0) for o, r in rows(
            connection, "select outcome, resumed_step from attempt where trial_id = %s order by fence", trial["id"])][1:] == [
                ("completed", True)]
        assert curve(target, trial) == curve(source[0], trial)
        assert target.submit(spec(job["dataset"]))["number"] > job["number"]
        refused = assayd("restore", path, ASSAY_DATA_DIR=str(data))
        assert refused.returncode == 1 and "not empty" in refused.stderr, refused
        assert history(connection).keys() == before.keys()


def test_without_the_daemon_and_again(saved, tmp_path):
    """A backup of what was restored holds the same rows; the command runs the cluster itself."""
    path, before, job, _ = saved
    data = pathlib.Path(assay.tempfile.mkdtemp(prefix="assay-", dir="/tmp"))
    data.chmod(0o755)
    assert assayd("restore", path, "--data-dir", data / "d").returncode == 0
    done = assayd("backup", tmp_path / "second", "--data-dir", data / "d")
    assert done.returncode == 0, done
    again = assayd("backup", tmp_path / "second", "--data-dir", data / "d")
    assert again.returncode == 1 and "exists" in again.stderr
    assert assayd("restore", "--check", tmp_path / "second").stdout.split("schema")[1].split(",")[1:3] == \
        done.stdout.split("schema")[1].split(",")[1:3]
    assay.shutil.rmtree(data)


def test_into_a_database_of_its_own(source, saved):
    """ASSAY_DATABASE: another database on the server of the first."""
    path, before, job, _ = saved
    daemon = source[0]
    connection = daemon.database()
    with connection.cursor() as cursor:
        cursor.execute("create database other")
    address = address_of(daemon, "other")
    done = assayd("restore", path, ASSAY_DATABASE=address)
    assert done.returncode == 0, done
    other = psycopg2.connect(address)
    assert history(other, job["id"]) == before
    other.close()
    refused = assayd("restore", path, ASSAY_DATABASE=address)
    assert refused.returncode == 1 and "not empty" in refused.stderr
    empty = assayd("backup", path.parent / "none", ASSAY_DATABASE=address.replace("dbname=other", "dbname=template1"))
    assert empty.returncode == 1 and "no history" in empty.stderr and not list(path.parent.glob("none*"))


def resign(content):
    body = bytes(content).rsplit(b"end ", 1)[0]
    return body + b"end " + hashlib.sha256(body).hexdigest().encode() + b"\n"


DAMAGES = {
    "cut": (lambda c: c[:len(c) // 2], "not whole"),
    "without its last line": (lambda c: bytes(c).rsplit(b"end ", 1)[0], "not whole"),
    "a flipped bit": (lambda c: c[:len(c) // 2] + bytes([c[len(c) // 2] ^ 1]) + c[len(c) // 2 + 1:], "not whole"),
    "more behind": (lambda c: c + b"x", "digest"),
    "another file": (lambda c: b"PK\x03\x04 something else\n", "no backup"),
    "nothing": (lambda c: b"", "no backup"),
    "a later form": (lambda c: c.replace(b"assay-backup 1", b"assay-backup 2", 1), "newer program"),
    "a newer schema": (lambda c: resign(c.replace(b"\nschema ", b"\nschema 9", 1)), "newer program"),
    "other migrations": (lambda c: resign(re.sub(rb"\nmigrations ....", b"\nmigrations 0000", c, 1)), "other migrations"),
    "no migrations": (lambda c: resign(re.sub(rb"\nmigrations ....", b"\nmigrations ", c, 1)), "not whole"),
    "a statement for a name": (lambda c: resign(c.replace(b"\ntable project id", b"\ntable project;drop id", 1)), "not whole"),
    "a foreign table": (lambda c: resign(c.replace(b"\ntable project id", b"\ntable pg_authid id", 1)), "no schema"),
    "lost rows": (lambda c: resign(c.replace(b"\0rows 1\n", b"\0rows 2\n", 1)), "lost rows"),
}


@pytest.fixture(scope="module")
def empty(source):
    """The address of an empty database on the server of the first daemon."""
    connection = source[0].database()
    with connection.cursor() as cursor:
        cursor.execute("create database empty")
    return address_of(source[0], "empty")


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_whole_is_refused_and_leaves_nothing(saved, empty, tmp_path, damage):
    change, text = DAMAGES[damage]
    bad = tmp_path / "bad"
    bad.write_bytes(change(saved[0].read_bytes()))
    assert bad.read_bytes() != saved[0].read_bytes()
    done = assayd("restore", bad, ASSAY_DATABASE=empty)
    assert done.returncode == 1 and text in done.stderr and not done.stdout, done
    connection = psycopg2.connect(empty)
    assert rows(connection, TABLES) == [] and rows(connection, "select 1 from pg_namespace where nspname = 'report'") == []
    connection.close()


def test_interrupted_nothing_looks_whole(source, saved, tmp_path):
    """Killed or asked to stop in the midst: no file under the name, nothing in the database; then both work."""
    path = saved[0]
    daemon = source[0]
    data = {"ASSAY_DATA_DIR": str(daemon.directory / "data")}
    connection = daemon.database()
    with daemon.database().cursor() as cursor:
        cursor.execute("begin; lock table artefact in access exclusive mode")  # the backup stands here
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        process = subprocess.Popen([assay.BINARY, "backup", str(tmp_path / "b")], env={**env, **data})
        wait_until(lambda: rows(connection, "select 1 from pg_stat_activity where application_name = 'assayd backup' "
                                            "and wait_event_type = 'Lock'"))
        process.send_signal(signal.SIGKILL)
        process.wait()
        cursor.execute("rollback")
    assert [p.name for p in tmp_path.iterdir()] == ["b.part"]
    assert "not whole" in assayd("restore", "--check", tmp_path / "b.part").stderr or (tmp_path / "b.part").stat().st_size == 0
    assert assayd("backup", tmp_path / "b", **data).returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["b"]
    target = pathlib.Path(assay.tempfile.mkdtemp(prefix="assay-", dir="/tmp"))
    target.chmod(0o755)
    options = {**env, "ASSAY_DATA_DIR": str(target / "d")}
    for moment, number in ((1.0, signal.SIGKILL), (1.5, signal.SIGTERM), (2.0, signal.SIGKILL)):
        process = subprocess.Popen([assay.BINARY, "restore", str(path)], env=options, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(moment)
        process.send_signal(number)
        process.wait(120)
    done = assayd("restore", path, ASSAY_DATA_DIR=str(target / "d"))
    assert done.returncode == 0 or "not empty" in done.stderr, done  # the last one may have been done before its signal
    check = assayd("backup", tmp_path / "c", ASSAY_DATA_DIR=str(target / "d"))
    whole = assayd("restore", "--check", path)
    counts = [int(re.search(r"(\d+) rows", done.stdout)[1]) for done in (check, whole)]
    assert counts[0] == counts[1] + 1, counts  # the event of the trial that was lost
    for pid, (_, arguments) in assay.processes().items():
        if arguments and "postgres" in arguments[0] and str(target / "d/pg") in arguments:
            os.kill(pid, signal.SIGINT)
            wait_until(lambda pid=pid: pid not in assay.processes())
    assay.shutil.rmtree(target)


def test_usage():
    for arguments in (("backup",), ("backup", "a", "b"), ("restore",), ("restore", "--check"), ("restore", "a", "b"), ("backup", "--chek")):
        assert assayd(*arguments).returncode == 2, arguments
    nothing = assayd("backup", "/tmp", ASSAY_DATA_DIR="/nonexistent/d")
    assert nothing.returncode == 1 and "no database" in nothing.stderr
    assert "cannot be read" in assayd("restore", "/nonexistent/f").stderr
