"""A long history for tests: a job of thousands of ended trials and curves of 100,000 points, written
into the daemon's database as if they had been trained.

The service itself makes the job's rows; what trials leave behind is copied from one that was really
trained, with a headline figure of its own for each, so that everything stands in the forms that it writes."""
from support.assay import replacing
from support.outcome import own_cluster

# 2 x 100 x 25 settings: 5,000 trials of one seed each.
SWEEP = {"training.solver": ["sgdm", "adam"],
         "training.learning_rate": [round(1e-4 * 1.07 ** i, 8) for i in range(100)],
         "training.l2": [round(1e-6 * 1.4 ** i, 9) for i in range(25)]}
WORKER = "(select id from worker order by number limit 1)"
FAILED = "t.idx %% 97 = 0"

# Each trial once, under the fence that ended it. Every 97th diverged, every 89th was stopped.
END = f"""
    update trial t set attempt = 1, fence = 1, step = s.step, total_steps = s.total_steps, epoch = s.epoch,
        reached_step = s.step, phase = '', started_at = t.created_at,
        finished_at = t.created_at + (t.idx %% 60) * interval '1 ms',
        state = case when {FAILED} then 'failed' when t.idx %% 89 = 0 then 'stopped' else 'completed' end,
        error_class = case when {FAILED} then 'diverged' end,
        error_text = case when {FAILED} then 'the loss is not finite at step ' || t.idx end,
        headline_value = case when {FAILED} then null else 0.3 + (t.idx * 7919 %% 5000) / 7500.0 end
    from trial s where s.id = %(sample)s and t.job_id = %(job)s"""
ATTEMPTS = f"""
    insert into attempt (trial_id, fence, n, project_id, worker_id, core_build, core_type, instruction_set, libraries, cpu,
        threads, claimed_at, lease_until, ended_at, resumed_step, outcome, error_class, error_text)
    select t.id, 1, 1, t.project_id, {WORKER}, a.core_build, a.core_type, a.instruction_set, a.libraries, a.cpu, a.threads,
        t.started_at, t.finished_at, t.finished_at, 0, t.state, t.error_class, t.error_text
    from trial t, attempt a where a.trial_id = %(sample)s and t.job_id = %(job)s"""
EVALUATIONS = """
    insert into evaluation (trial_id, part, fence, project_id, sample_count, document)
    select t.id, e.part, 1, t.project_id, e.sample_count, e.document
    from trial t, evaluation e where e.trial_id = %(sample)s and t.job_id = %(job)s and t.state <> 'failed'"""
FIGURES = """
    insert into evaluation_metric (trial_id, part, project_id, metric, value, low, high, n)
    select t.id, m.part, t.project_id, m.metric, t.headline_value, t.headline_value - 0.02,
        least(1, t.headline_value + 0.02), m.n
    from trial t, evaluation_metric m where m.trial_id = %(sample)s and t.job_id = %(job)s and t.state <> 'failed'"""
MATRICES = """
    insert into confusion_matrix (trial_id, part, project_id, classes, counts)
    select t.id, c.part, t.project_id, c.classes, c.counts
    from trial t, confusion_matrix c where c.trial_id = %(sample)s and t.job_id = %(job)s and t.state <> 'failed'"""
POINTS = """
    insert into metric_chunk (trial_id, metric, first_step, last_step, fence, project_id, steps, vals, low, low_step, high,
        high_step)
    select t.id, c.metric, c.first_step, c.last_step, 1, t.project_id, c.steps, c.vals, c.low, c.low_step, c.high,
        c.high_step
    from trial t, metric_chunk c
    where c.trial_id = %(sample)s and c.metric in ('training_loss', 'validation_accuracy') and t.job_id = %(job)s"""
SUMMARIES = """
    insert into metric_summary (trial_id, metric, project_id, n, last, last_step, min, min_step, max, max_step)
    select t.id, s.metric, t.project_id, s.n, s.last, s.last_step, s.min, s.min_step, s.max, s.max_step
    from trial t, metric_summary s
    where s.trial_id = %(sample)s and s.metric in ('training_loss', 'validation_accuracy') and t.job_id = %(job)s"""

# A loss that falls and trembles, in chunks as the service joins them; each trial has it in a height of its own.
CURVES = """
    with point as (
        select n as step, 1 / (1 + n / 5000.0) + 0.05 * (1 + sin(n * 0.37)) + 0.02 * (n * 7919 %% 101) / 101 as value
        from generate_series(%(first)s::bigint, %(last)s::bigint) n),
    chunk as materialized (
        select c.*, e.* from (
            select array_agg(step order by step) as steps, array_agg(value::float8 order by step) as vals
            from point group by (step - %(first)s) / 4096) c, points_extremes(c.steps, c.vals) e)
    insert into metric_chunk (trial_id, metric, first_step, last_step, fence, project_id, steps, vals, low, low_step, high,
        high_step)
    select t.id, 'training_loss', c.steps[1], c.steps[cardinality(c.steps)], t.fence, t.project_id, c.steps,
        array(select v * s.height from unnest(c.vals) with ordinality u (v, n) order by n),
        c.low * s.height, c.low_step, c.high * s.height, c.high_step
    from trial t, chunk c, lateral (select 1 + 0.1 * (t.idx %% 10)::float8 as height) s
    where t.id = any(%(trials)s::uuid[])"""


def _touch(cursor, job, recount):
    cursor.execute("select job_touch(%s, null, 'points', null, 'history', %s)", (job, recount))


def _summarise(cursor, trial_ids):
    cursor.execute("select trial_summaries_rebuild(id) from trial where id = any(%s::uuid[])", (trial_ids,))


def _reach(cursor, job, trial_ids, step):
    """The trials are at that step, and whoever polls learns of it."""
    cursor.execute("update trial set step = %s, total_steps = %s where id = any(%s::uuid[])", (step, step, trial_ids))
    _summarise(cursor, trial_ids)
    _touch(cursor, job, False)


def fill_job(daemon, dataset, sample, name="history"):
    """A job of 5,000 ended trials whose results look like those of the trial `sample`."""
    with own_cluster(daemon) as db, db.cursor() as cursor:
        cursor.execute("update project set max_running = 0")  # so that no worker takes what is only told
        db.commit()
        job = daemon.submit({"kind": "solver_comparison", "dataset": dataset["id"], "name": name, "experiment": name,
                             "search": {"strategy": "grid", "parameters": SWEEP}})
        for statement in (END, ATTEMPTS, EVALUATIONS, FIGURES, MATRICES, POINTS, SUMMARIES):
            cursor.execute(statement, {"job": job["id"], "sample": sample["id"]})
        _touch(cursor, job["id"], True)
        cursor.execute("update project set max_running = null")
    return daemon.get(f"/v1/jobs/{job['id']}")


@replacing
def fill_curves(daemon, job_id, trial_ids, points=100_000):
    """Gives each of the trials a training loss of so many points in the place of its own."""
    with own_cluster(daemon) as db, db.cursor() as cursor:
        cursor.execute("delete from metric_chunk where trial_id = any(%s::uuid[]) and metric = 'training_loss'", (trial_ids,))
        cursor.execute(CURVES, {"trials": trial_ids, "first": 1, "last": points})
        _reach(cursor, job_id, trial_ids, points)


def append_points(daemon, job_id, trial_ids, first, count):
    """So many points more behind those that are there, as a running trial would write them."""
    with own_cluster(daemon) as db, db.cursor() as cursor:
        cursor.execute(CURVES, {"trials": trial_ids, "first": first, "last": first + count - 1})
        _reach(cursor, job_id, trial_ids, first + count - 1)


@replacing
def replace_values(daemon, job_id, trial_id, metric, values):
    """Makes the values (strings such as "NaN" too) the whole curve of a metric, steps from 1."""
    with own_cluster(daemon) as db, db.cursor() as cursor:
        cursor.execute("delete from metric_chunk where trial_id = %s and metric = %s", (trial_id, metric))
        cursor.execute("""
            insert into metric_chunk (trial_id, metric, first_step, last_step, fence, project_id, steps, vals, low,
                low_step, high, high_step)
            select t.id, %s, 1, cardinality(v.steps), t.fence, t.project_id, v.steps, v.vals, e.low, e.low_step, e.high,
                e.high_step
            from trial t, (select %s::bigint[] as steps, %s::float8[] as vals) v, points_extremes(v.steps, v.vals) e
            where t.id = %s""", (metric, list(range(1, len(values) + 1)), [str(v) for v in values], trial_id))
        _summarise(cursor, [trial_id])
        _touch(cursor, job_id, False)
