"""What a job left in the database, for comparing runs: every metric point and final figure."""
import time

import psycopg2

CLOCKED = ("images_per_second", "loader_stall_seconds", "seconds")


def connected(socket, password, patience=60):
    """A connection; a server that was killed just now is waited for."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return psycopg2.connect(host=socket, dbname="assay", user="assay", password=password)
        except psycopg2.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def own_cluster(daemon):
    """A connection to the daemon's own cluster."""
    data = daemon.directory / "data"
    return connected(str(data / "pg-socket"), (data / "pg-password").read_text().strip())


def query(daemon, sql, args=()):
    """Rows of a read-only statement on the daemon's own cluster."""
    with own_cluster(daemon) as db:
        db.set_session(readonly=True)
        with db.cursor() as cursor:
            cursor.execute(sql, args or None)  # without arguments a % is one
            return cursor.fetchall()


def outcome(daemon, job_id):
    """{(trial index, metric, step): value as text}; final figures, confusion matrices, predictions
    and predicted sequences stand at step 0; what depends on a clock is left out."""
    rows = query(daemon, """
        select t.index, p.metric, p.step, p.value::text from report.trials t
        join report.points p on p.trial_id = t.id where t.job_id = %s""", (job_id,))
    rows += query(daemon, """
        select t.index, e.part || ':' || e.metric, 0, e.value::text from report.trials t
        join report.evaluations e on e.trial_id = t.id where t.job_id = %s""", (job_id,))
    rows += query(daemon, """
        select t.index, c.part || ':' || c.true_class || '>' || c.predicted_class, 0, c.count::text
        from report.trials t join report.confusion c on c.trial_id = t.id where t.job_id = %s""", (job_id,))
    rows += query(daemon, """
        select t.index, 'sequence:' || s.part || ':' || s.sample, 0, s.targets::text || s.predicted::text
        from report.trials t join sequence_prediction s on s.trial_id = t.id where t.job_id = %s""", (job_id,))
    rows += query(daemon, """
        select t.index, 'predicted:' || p.part || ':' || p.n, 0, p.samples::text || p.predicted::text || p.probabilities::text
        from report.trials t join prediction_chunk p on p.trial_id = t.id where t.job_id = %s""", (job_id,))
    rows = [row for row in rows if not row[1].endswith(CLOCKED)]
    table = {row[:3]: row[3] for row in rows}
    assert len(table) == len(rows), "a point stands twice"
    return table


def differences(expected, got):
    """Keys whose values differ or that only one side has."""
    return [k for k in expected.keys() | got.keys() if expected.get(k) != got.get(k)]
