-- Words that people give to trials, as to jobs; and a limit of running trials that is exact now.

alter table trial add column labels text[] not null default '{}';
comment on column trial.labels is 'Words to filter by, given by people; unique, at most 32.';

create or replace view report.trials as
    select t.id, t.number, p.name as project, t.job_id,
        j.number as job_number, t.idx as index, t.parameters, t.seed, t.state, t.discarded, t.step,
        t.total_steps, t.epoch, j.headline_metric, t.headline_value, t.error_class, t.error_text,
        t.fence as attempts, t.created_at, t.started_at, t.finished_at, t.labels
    from trial t
    join job j on j.id = t.job_id
    join project p on p.id = t.project_id;

comment on column project.max_running is 'Trials of the project that may run at once; null = no limit. Claims lock the rows that have one, so that they count one after the other.';
