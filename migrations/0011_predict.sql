-- Questions to trained networks: a posted picture or sequence, answered by a child process. The columns of
-- the queue are those of dataset (0002), and imports claim, reap and end them alike.

create table prediction (
    id uuid primary key,
    number bigint generated always as identity unique,
    project_id uuid not null references project,
    trial_id uuid not null references trial on delete cascade,
    media_type text not null,
    input_blob_id uuid not null references blob,
    state text not null default 'checking' check (state in ('checking', 'ready', 'refused')),
    report json,
    error_text text,
    revision bigint not null default 1,
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    finished_at timestamptz,
    attempt integer not null default 0,
    max_attempts integer not null default 2 check (max_attempts >= 1),
    fence bigint not null default 0,
    worker_id uuid references worker,
    lease_until timestamptz,
    not_before timestamptz not null default now(),
    progress double precision not null default 0,
    check ((worker_id is null) = (lease_until is null)),
    check (state = 'checking' or worker_id is null),
    check ((state in ('ready', 'refused')) = (finished_at is not null)),
    check ((state = 'ready') = (report is not null)),
    check ((state = 'refused') = (error_text is not null))
) with (fillfactor = 80);
comment on table prediction is 'What a trial''s network says of a posted picture or sequence; kept for a day.';
comment on column prediction.state is 'checking: waits or is worked on.';
comment on column prediction.media_type is 'Of the body as it was posted; only the child looks into it.';
comment on column prediction.report is 'The answer: class probabilities, or predicted values in the target''s unit.';
comment on column prediction.worker_id is 'Instance that works on it; null while it waits. Lease and fence as in trial.';
-- imports_claim: the queue of imports.
create index prediction_queue on prediction (number) where state = 'checking' and worker_id is null;
-- imports_reap: leases that ran out.
create index prediction_lease on prediction (lease_until) where lease_until is not null;
-- trim: the oldest.
create index prediction_age on prediction (created_at);
-- A trial that goes takes its questions along.
create index prediction_trial on prediction (trial_id);
-- blob_reference: is a blob in use?
create index prediction_input on prediction (input_blob_id);

create view prediction_file as
    select p.id as prediction_id, 'input'::text as name, 0 as n, p.input_blob_id as blob_id from prediction p
    union all select p.id, 'network', 1, a.blob_id
        from prediction p join artefact a on a.trial_id = p.trial_id and a.kind = 'network';
comment on view prediction_file is 'What the child gets, in the form of dataset_file.';

create or replace view blob_reference as
    select blob_id from dataset_file
    union all select prepared_blob_id from dataset where prepared_blob_id is not null
    union all select blob_id from checkpoint where blob_id is not null
    union all select blob_id from artefact
    union all select blob_id from weights_file
    union all select content_blob_id from weights where content_blob_id is not null
    union all select input_blob_id from prediction;

create function prediction_touch(subject uuid, what text, detail json, actor text) returns bigint
    language plpgsql as $$
declare
    owner uuid;
    new_revision bigint;
begin
    update prediction set revision = revision + 1, updated_at = clock_timestamp() where id = subject
        returning revision, project_id into new_revision, owner;
    if not found then
        return null;
    end if;
    perform change_notify('predict', subject, owner, new_revision, 0);
    return new_revision;
end $$;
comment on function prediction_touch is 'As dataset_touch, without an event: the outbox tells of jobs and assets.';
