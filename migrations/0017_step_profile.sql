-- Where the time of a trial's steps went.

create table step_profile (
    trial_id uuid primary key references trial,
    fence bigint not null,
    project_id uuid not null references project,
    steps bigint not null check (steps >= 1),
    seconds double precision not null,
    validation_seconds double precision not null,
    checkpoint_seconds double precision not null,
    layers text[] not null,
    operators text[] not null,
    phases text[] not null,
    row_seconds double precision[] not null,
    created_at timestamptz not null default now(),
    check (cardinality(layers) >= 1 and cardinality(layers) = cardinality(operators)
        and cardinality(layers) = cardinality(phases) and cardinality(layers) = cardinality(row_seconds))
);
comment on table step_profile is 'Self time of a trial''s steps on one level, by operator, layer and phase; of its last attempt.';
comment on column step_profile.fence is 'The attempt that was measured.';
comment on column step_profile.steps is 'Steps that were measured: the first ones, which warm up, are left out.';
comment on column step_profile.seconds is 'Of these steps together; the rows add up to it.';
comment on column step_profile.validation_seconds is 'Beside the steps, as checkpoint_seconds is.';
comment on column step_profile.layers is 'What the operator ran, fused layers as one: bn1+relu1; empty for what is no layer (loss, update, data_wait, other).';
comment on column step_profile.phases is 'forward, backward, loss, update, data_wait or other.';

create or replace function trial_results_delete(subject uuid) returns void language sql
    begin atomic
        delete from metric_chunk where trial_id = subject;
        delete from metric_summary where trial_id = subject;
        delete from evaluation where trial_id = subject;
        delete from artefact where trial_id = subject;
        delete from checkpoint where trial_id = subject;
        delete from step_profile where trial_id = subject;
    end;

create view report.step_profile as
    select p.trial_id, p.fence as attempt, p.steps, r.layers, r.operator, r.phase,
        r.seconds / p.steps as seconds_per_step
    from step_profile p, unnest(p.layers, p.operators, p.phases, p.row_seconds)
        as r (layers, operator, phase, seconds);
comment on view report.step_profile is 'Where the time of a step went, one row a layer and phase.';
