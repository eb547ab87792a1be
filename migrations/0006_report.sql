-- Read-only views for people and tools; their columns are part of the contract and only grow.
-- Ids are of type uuid: 32 digits without dashes compare equal, and indexes serve.

create schema report;
comment on schema report is 'Views that stay: columns are added, never changed or removed.';

create view report.datasets as
    select d.id, d.number, p.name as project, d.name, d.kind, d.layout, d.state,
        encode(d.digest, 'hex') as digest, d.height, d.width, d.channels, d.class_count,
        d.train_count, d.validation_count, d.test_count, d.error_text, d.created_by, d.created_at,
        d.finished_at
    from dataset d join project p on p.id = d.project_id;
comment on view report.datasets is 'Data sets with their sizes.';

create view report.jobs as
    select j.id, j.number, p.name as project, e.name as experiment, j.name, j.kind, j.state,
        j.dataset_id, j.headline_metric, j.trial_count, j.queued_count,
        j.running_count, j.paused_count, j.completed_count, j.stopped_count, j.cancelled_count,
        j.failed_count, j.labels, j.notes, j.archived, j.revision, j.created_by, j.created_at,
        j.started_at, j.finished_at
    from job j
    join project p on p.id = j.project_id
    left join experiment e on e.id = j.experiment_id;
comment on view report.jobs is 'Jobs with the counts of their trials.';

create view report.trials as
    select t.id, t.number, p.name as project, t.job_id,
        j.number as job_number, t.idx as index, t.parameters, t.seed, t.state, t.discarded, t.step,
        t.total_steps, t.epoch, j.headline_metric, t.headline_value, t.error_class, t.error_text,
        t.fence as attempts, t.created_at, t.started_at, t.finished_at
    from trial t
    join job j on j.id = t.job_id
    join project p on p.id = t.project_id;
comment on view report.trials is 'Trials with parameters, state and headline value.';

create view report.attempts as
    select a.trial_id, a.fence as attempt, a.worker_id, w.host,
        a.core_build, a.core_type, a.instruction_set, a.cpu, a.threads, a.claimed_at, a.ended_at,
        a.resumed_step, a.bits_may_differ, a.outcome, a.error_class, a.error_text
    from attempt a join worker w on w.id = a.worker_id;
comment on view report.attempts is 'Who ran which trial when, on what, and how it ended.';

create view report.points as
    select c.trial_id, c.metric, p.step, p.value, c.fence as attempt
    from metric_chunk c, unnest(c.steps, c.vals) as p (step, value);
comment on view report.points is 'Metric points, one a row. Filter by trial_id: the view unfolds arrays.';

create view report.metrics as
    select s.trial_id, s.metric, s.n, s.last, s.last_step, s.min, s.min_step, s.max,
        s.max_step
    from metric_summary s;
comment on view report.metrics is 'Summary of each metric of each trial.';

create view report.evaluations as
    select m.trial_id, m.part, m.metric, m.value, m.low, m.high, m.n
    from evaluation_metric m;
comment on view report.evaluations is 'Final figures of each trial and part with 95 % intervals.';

create view report.confusion as
    select m.trial_id, m.part, m.classes[1 + (c.i - 1) / cardinality(m.classes)] as true_class,
        m.classes[1 + (c.i - 1) % cardinality(m.classes)] as predicted_class, c.count
    from confusion_matrix m, unnest(m.counts) with ordinality as c (count, i);
comment on view report.confusion is 'Confusion matrices, one cell a row.';
