"""What surrounds a trial's process, and what becomes of the trial when the process dies."""
import os
import shutil
import signal
import time

import pytest
from assay import BINARY, blobs_idx, processes
from conftest import CheckedDaemon, long_job, spec, wait_until

ENVIRONMENT = {"LC_ALL", "TZ", "PATH", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_CORETYPE",
               "ASAN_OPTIONS", "UBSAN_OPTIONS"}


@pytest.fixture(scope="module")
def own():
    """A daemon that may be hurt, with secrets in its environment, and its data set."""
    os.environ["PGPASSWORD"] = os.environ["SECRET_OF_THE_SHELL"] = "secret"
    try:
        with CheckedDaemon(ASSAY_POLL_SECONDS="1", ASSAY_LEASE_SECONDS="30", ASSAY_CORES="2") as running:
            dataset = running.create_dataset(blobs_idx(), "idx", name="own")
            yield running, dataset
    finally:
        del os.environ["PGPASSWORD"], os.environ["SECRET_OF_THE_SHELL"]


def trial_of(daemon, trial_id):
    return daemon.get(f"/v1/trials/{trial_id}")


def child_of(daemon):
    """The only child that trains, once there is one."""
    return wait_until(lambda: (daemon.pids("trial") or [None])[0], every=0.02)


def submitted(daemon, job_spec):
    """The id of the only trial of a new job."""
    job = daemon.submit(job_spec)
    [trial] = daemon.trials(job["id"])
    return trial["id"]


def ended(daemon, trial_id):
    wait_until(lambda: trial_of(daemon, trial_id)["state"] in ("completed", "stopped", "cancelled", "failed"))
    return trial_of(daemon, trial_id)


def cancel(daemon, trial_id):
    daemon.post(f"/v1/trials/{trial_id}/cancel")
    assert ended(daemon, trial_id)["state"] == "cancelled"
    wait_until(lambda: not daemon.pids("trial"))


@pytest.fixture
def child(own):
    """Daemon, trial and process of a trial at work."""
    daemon, dataset = own
    trial_id = submitted(daemon, long_job(dataset))
    wait_until(lambda: trial_of(daemon, trial_id)["step"] > 0)
    yield daemon, trial_id, child_of(daemon)
    if trial_of(daemon, trial_id)["state"] in ("queued", "running"):
        cancel(daemon, trial_id)


def proc(pid, name):
    """A file of /proc; skips where only the owner of the process may read it."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except PermissionError:
        pytest.skip("a process that is not dumpable shows this to root only")


def status_of(pid):
    return dict(line.split(":\t", 1) for line in proc(pid, "status").decode().splitlines() if ":\t" in line)


def test_a_child_leads_its_own_group_and_yields(child):
    daemon, _, pid = child
    [work] = daemon.pids("work")
    assert os.getpgid(pid) == os.getsid(pid) == pid != os.getpgid(work)
    assert os.getpriority(os.PRIO_PROCESS, pid) >= 10
    if os.path.exists("/proc/self/autogroup"):
        assert proc(pid, "autogroup").split()[-1] == b"10"
    assert int(proc(pid, "oom_score_adj")) == 1000
    assert processes()[pid][0] == work


def test_a_child_has_no_privilege(child):
    _, _, pid = child
    status = status_of(pid)
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2" and status["Umask"] == "0077"
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    if os.geteuid() == 0:
        assert "0" not in status["Uid"].split() + status["Gid"].split() and status["Groups"].strip() == ""


def test_a_child_has_limits(child):
    _, _, pid = child
    limits = {line[:26].strip(): line[26:].split()[:2] for line in proc(pid, "limits").decode().splitlines()[1:]}
    assert limits["Max core file size"] == ["0", "0"]
    assert limits["Max open files"] == ["256", "256"]
    assert limits["Max file size"][1] != "unlimited"
    if "/asan/" not in BINARY and "/tsan/" not in BINARY:  # sanitizers need terabytes of addresses
        assert limits["Max address space"][1] != "unlimited"
    if os.geteuid() == 0:
        assert limits["Max processes"] == ["1024", "1024"]


def test_a_child_inherits_a_clean_environment(child):
    _, _, pid = child
    environment = dict(entry.split(b"=", 1) for entry in proc(pid, "environ").split(b"\0") if entry)
    assert {name.decode() for name in environment} == ENVIRONMENT
    assert b"secret" not in b"".join(environment.values())


def test_a_child_inherits_no_descriptor(child):
    """Its socket, its log, /dev/null, and what it opened itself in its own directory."""
    daemon, _, pid = child
    try:
        links = {n: os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")}
    except PermissionError:
        pytest.skip("a process that is not dumpable shows this to root only")
    assert links["0"] == "/dev/null" and links["1"] == links["2"] and links["1"].endswith("/log")
    assert [n for n, link in links.items() if link.startswith("socket:")] == ["3"]
    attempts = str(daemon.directory / "data")
    others = {link for n, link in links.items() if int(n) > 3}
    assert all(link.startswith(attempts) for link in others), others
    assert not any("pg" in link.removeprefix(attempts) for link in others), others


def test_no_child_outlives_its_supervisor(child):
    daemon, trial_id, pid = child
    [work] = daemon.pids("work")
    os.kill(work, signal.SIGKILL)
    wait_until(lambda: pid not in processes())
    wait_until(lambda: trial_of(daemon, trial_id)["attempts"][0]["outcome"] == "lost")
    wait_until(lambda: len(trial_of(daemon, trial_id)["attempts"]) == 2)
    assert child_of(daemon) != pid


# ------------------------------------------------------------------------------------- attempts


def kill_attempt(daemon, trial_id, n, number, beyond=0):
    """Kills the process of the n-th claim once it trains, with a checkpoint beyond that step; the
    trial once this is recorded."""
    def at_work():
        trial = trial_of(daemon, trial_id)
        return (len(trial["attempts"]) == n and trial["state"] == "running" and trial["step"] > 0
                and trial["checkpoint_step"] >= beyond)
    wait_until(at_work, every=0.05)
    os.kill(child_of(daemon), number)
    wait_until(lambda: trial_of(daemon, trial_id)["attempts"][n - 1]["outcome"])
    return trial_of(daemon, trial_id)


def test_a_crash_is_tried_again_up_to_the_limit(own):
    daemon, dataset = own
    trial_id = submitted(daemon, long_job(dataset, max_attempts=2))
    again = kill_attempt(daemon, trial_id, 1, signal.SIGABRT)
    assert again["state"] in ("queued", "running") and again["attempts"][0]["error_class"] == "crashed"
    assert "SIGABRT" in again["attempts"][0]["error_text"]
    failed = kill_attempt(daemon, trial_id, 2, signal.SIGKILL)
    assert failed["state"] == "failed" and failed["error"]["class"] == "crashed"
    assert [a["outcome"] for a in failed["attempts"]] == ["crashed", "crashed"]
    assert "SIGKILL" in failed["error"]["text"] and failed["attempt"] == failed["max_attempts"] == 2


def test_a_later_checkpoint_starts_the_count_again(own):
    """Two attempts, and yet it survives four crashes, each beyond the checkpoint of the one before."""
    daemon, dataset = own
    training = {"epochs": 100000, "batch_size": 8, "solver": "sgdm", "checkpoint_interval_seconds": 0.1}
    trial_id = submitted(daemon, long_job(dataset, max_attempts=2, training=training))
    reached = 0
    for n in range(1, 5):
        crashed = kill_attempt(daemon, trial_id, n, signal.SIGKILL, beyond=reached + 1)
        assert crashed["state"] in ("queued", "running"), crashed["error"]
        reached = crashed["checkpoint_step"]
    resumed = [a["resumed_step"] for a in trial_of(daemon, trial_id)["attempts"]][:4]
    assert resumed == sorted(resumed) and resumed[0] == 0 < resumed[1], resumed
    cancel(daemon, trial_id)


def test_a_slow_supervisor_takes_the_checkpoints_that_are_left(own):
    """The child keeps two files: those that went before their record was read are no offence."""
    daemon, dataset = own
    training = {"epochs": 100000, "batch_size": 8, "solver": "sgdm", "checkpoint_interval_seconds": 0.1}
    trial_id = submitted(daemon, long_job(dataset, training=training))
    wait_until(lambda: trial_of(daemon, trial_id)["checkpoint_step"] > 0)
    [work] = daemon.pids("work")
    os.kill(work, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(work, signal.SIGCONT)
    before = trial_of(daemon, trial_id)["checkpoint_step"]
    wait_until(lambda: trial_of(daemon, trial_id)["checkpoint_step"] > before
               or trial_of(daemon, trial_id)["state"] != "running")
    trial = trial_of(daemon, trial_id)
    assert trial["state"] == "running" and trial["attempt"] == 1, trial["error"]
    cancel(daemon, trial_id)


def test_a_lost_worker_is_tried_again_up_to_the_limit(own):
    daemon, dataset = own
    trial_id = submitted(daemon, long_job(dataset, max_attempts=2))
    for n in (1, 2):
        wait_until(lambda: len((t := trial_of(daemon, trial_id))["attempts"]) == n and t["state"] == "running")
        [work] = wait_until(lambda: daemon.pids("work"))
        os.kill(work, signal.SIGKILL)
        wait_until(lambda: trial_of(daemon, trial_id)["attempts"][n - 1]["outcome"])
    failed = ended(daemon, trial_id)
    assert failed["state"] == "failed" and failed["error"]["class"] == "worker_lost"
    assert [a["outcome"] for a in failed["attempts"]] == ["lost", "lost"]


def test_a_slow_database_fails_no_trial(own):
    """The child goes on, and replaces checkpoints of which its supervisor could not yet take note."""
    daemon, dataset = own
    training = {"epochs": 100000, "batch_size": 8, "solver": "sgdm", "checkpoint_interval_seconds": 0.05}
    trial_id = submitted(daemon, long_job(dataset, training=training))
    wait_until(lambda: trial_of(daemon, trial_id)["checkpoint_step"] > 0)
    holder = daemon.database()
    holder.autocommit = False
    with holder.cursor() as cursor:
        cursor.execute("select step from trial where id = %s for update", (trial_id,))
        held = cursor.fetchone()[0]
        time.sleep(2)
    holder.close()
    wait_until(lambda: trial_of(daemon, trial_id)["checkpoint_step"] > held or trial_of(daemon, trial_id)["error"])
    trial = trial_of(daemon, trial_id)
    assert trial["state"] == "running" and len(trial["attempts"]) == 1, trial["error"]
    cancel(daemon, trial_id)


def test_a_timeout_is_final(own):
    daemon, dataset = own
    failed = ended(daemon, submitted(daemon, long_job(dataset, limits={"seconds": 1})))
    assert failed["state"] == "failed" and failed["error"]["class"] == "timeout"
    assert len(failed["attempts"]) == 1 and "time limit" in failed["explanation"]


def test_a_trial_that_hangs_is_ended(own):
    """What its worker records each second beside it is no sign of life."""
    daemon, dataset = own
    trial_id = submitted(daemon, long_job(dataset, limits={"no_progress_seconds": 3}))
    wait_until(lambda: trial_of(daemon, trial_id)["step"] > 0)
    time.sleep(6)  # longer than it may hang: it works, and says so
    assert trial_of(daemon, trial_id)["state"] == "running"
    os.kill(child_of(daemon), signal.SIGSTOP)
    stopped = time.monotonic()
    failed = ended(daemon, trial_id)
    assert time.monotonic() - stopped < 30
    assert failed["state"] == "failed" and failed["error"]["class"] == "timeout", failed["error"]
    assert "no progress" in failed["error"]["text"]
    assert [a["error_class"] for a in failed["attempts"]] == ["timeout"]
    assert failed["attempt"] == 1 < failed["max_attempts"]
    wait_until(lambda: not daemon.pids("trial"))


def test_too_much_memory_is_final_and_called_so(own):
    """B32, 50 times: a plan that does not fit is refused at submission, and one that meets a smaller
    limit when it runs is never taken for a crash."""
    daemon, dataset = own
    big = spec(dataset, seeds=list(range(1, 51)), network={"name": "simple_cnn", "filters": 256},
               training={"batch_size": 400, "solver": "sgdm"})
    daemon.refused("POST", "/v1/jobs", 422, "invalid_field", json={**big, "limits": {"memory_bytes": 16 << 20}})
    with daemon.database().cursor() as cursor:
        cursor.execute("update project set max_running = 0")  # so that none starts before it is changed
        job = daemon.submit(big)
        cursor.execute("update trial set resolved = jsonb_set(resolved::jsonb, '{limits,memory_bytes}', '16777216')"
                       " where job_id = %s", (job["id"],))
        cursor.execute("update project set max_running = null")
    trials = daemon.wait_job(job["id"])
    assert {(t["state"], (t["error"] or {}).get("class")) for t in trials} == {("failed", "out_of_memory")}
    assert all(t["attempt"] == 1 for t in trials) and len(trials) == 50
    assert all("limits.memory_bytes is 16777216, a batch has 400 samples at once" in t["error"]["text"]
               and "a smaller training.micro_batch_size" in t["explanation"] for t in trials)
    assert daemon.get("/healthz")["status"] == "ok"


def in_trouble(daemon):
    [line] = [x for x in daemon.request("GET", "/metrics").text.splitlines() if x.startswith("assay_workers_in_trouble ")]
    return float(line.split()[1])


def test_a_worker_that_cannot_prepare_attempts_fails_none(own):
    """Its directory is removed, and a file stands in the way: attempts are given back and do not count, the worker
    says that it is in trouble, and goes on by itself when the place is free."""
    daemon, dataset = own
    work = daemon.directory / "data" / "work"
    shutil.rmtree(work)
    work.write_text("in the way")
    job = daemon.submit(spec(dataset, seeds=[1, 2, 3], max_attempts=1))
    wait_until(lambda: in_trouble(daemon) == 1)
    assert {t["state"] for t in daemon.trials(job["id"])} <= {"queued", "running"}
    work.unlink()
    assert {(t["state"], t["attempt"]) for t in daemon.wait_job(job["id"], timeout=60)} == {("completed", 1)}
    wait_until(lambda: in_trouble(daemon) == 0)
    assert {p.name for p in work.iterdir()} == {"lock", "node", "attempts", "cache", "checkpoints"}


def test_a_question_is_left_when_its_worker_ends(own):
    """It goes back to the queue at once, and another worker answers it whole."""
    daemon, dataset = own
    network = {"layers": [
        {"name": "in", "kind": "image_input"}, {"name": "conv1", "kind": "convolution", "filters": 192, "kernel": 3},
        {"name": "conv2", "kind": "convolution", "filters": 192, "kernel": 3}, {"name": "fc", "kind": "fully_connected"},
        {"name": "softmax", "kind": "softmax"}]}
    job = daemon.submit(spec(dataset, network=network, training={"epochs": 1, "batch_size": 100, "solver": "sgdm"}))
    [trial] = daemon.wait_job(job["id"])
    asked = daemon.request("POST", f"/v1/trials/{trial['id']}/explanations?wait=0", json={
        "item": 1, "method": "lime", "lime": {"copies": 4096}}).json()
    wait_until(lambda: daemon.pids("import"), every=0.02)
    [work] = daemon.pids("work")
    os.kill(work, signal.SIGTERM)
    wait_until(lambda: work not in daemon.pids("work"), every=0.02)
    url = f"/v1/explanations/{asked['id']}"
    assert daemon.get(url)["state"] == "waiting"
    wait_until(lambda: daemon.get(url)["state"] != "waiting", timeout=40)
    assert [row["method"] for row in daemon.get(url)["result"]["arrays"]][:1] == ["lime"]
