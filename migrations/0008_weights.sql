-- Pretrained weights: uploaded, checked and written anew as safetensors by an import child; and which
-- of them a job starts from. The columns of upload and import are those of dataset (0002).

create table weights (
    id uuid primary key,
    number bigint generated always as identity unique,
    project_id uuid not null references project,
    name text not null check (length(name) between 1 and 200),
    notes text not null default '',
    origin text not null default '',
    url text not null default '',
    licence text not null default '',
    preprocessing json,
    state text not null default 'uploading'
        check (state in ('uploading', 'checking', 'ready', 'refused')),
    report json,
    tensors json,
    error_text text,
    format text,
    digest bytea check (length(digest) = 32),
    content_blob_id uuid references blob,
    tensor_count bigint,
    element_count bigint,
    revision bigint not null default 1,
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    finished_at timestamptz,
    attempt integer not null default 0,
    max_attempts integer not null default 3 check (max_attempts >= 1),
    fence bigint not null default 0,
    worker_id uuid references worker,
    lease_until timestamptz,
    not_before timestamptz not null default now(),
    progress double precision not null default 0,
    unique (project_id, name),
    check ((worker_id is null) = (lease_until is null)),
    check (state = 'checking' or worker_id is null),
    check ((state in ('ready', 'refused')) = (finished_at is not null)),
    check ((state = 'ready') = (content_blob_id is not null and digest is not null and format is not null
        and tensors is not null and tensor_count is not null and element_count is not null)),
    check ((state = 'refused') = (error_text is not null))
) with (fillfactor = 80);
comment on table weights is 'Named tensors to start networks from: declared, uploaded, checked by an import child, then immutable.';
comment on column weights.origin is 'Where they come from, in words: who trained them on what.';
comment on column weights.url is 'The address they were taken from. Never fetched by the service.';
comment on column weights.licence is 'What their makers allow.';
comment on column weights.preprocessing is 'What inputs they expect: {scale, mean, std}, as submitted; null = not known.';
comment on column weights.report is 'Report of the import: format, metadata of the file, tensors that are not finite.';
comment on column weights.tensors is 'List of {name, dtype, shape}, ordered by name; the match with a network is made from it.';
comment on column weights.format is 'What was uploaded, told by its content: safetensors, pytorch, pytorch_stream.';
comment on column weights.digest is 'SHA-256 of the content as safetensors, part of the identity of every trial that starts from it.';
comment on column weights.content_blob_id is 'The same tensors as safetensors, written by the import child: no other process reads the upload.';
comment on column weights.element_count is 'Numbers in all tensors.';
comment on column weights.worker_id is 'Instance that runs the import; null while it waits. Lease and fence as in trial.';
comment on column weights.attempt is 'Claims of the import so far; given up at max_attempts.';
-- imports_claim: the queue of imports.
create index weights_queue on weights (number) where state = 'checking' and worker_id is null;
-- imports_reap: leases that ran out.
create index weights_lease on weights (lease_until) where lease_until is not null;
-- weights_list: newest first (name order uses the unique key).
create index weights_newest on weights (project_id, number);

create table weights_file (
    weights_id uuid not null references weights on delete cascade,
    name text not null check (length(name) between 1 and 255),
    n integer not null,
    project_id uuid not null references project,
    blob_id uuid not null references blob,
    declared_size bigint check (declared_size >= 0),
    declared_sha256 bytea check (length(declared_sha256) = 32),
    received_size bigint not null default 0,
    complete boolean not null default false,
    primary key (weights_id, name)
);
comment on table weights_file is 'The uploaded file, as dataset_file.';
comment on column weights_file.n is 'Position in the declaration.';
comment on column weights_file.received_size is 'Where the upload stands: the next byte must have this offset.';

create table job_weights (
    job_id uuid not null references job on delete cascade,
    network text not null check (length(network) between 1 and 200),
    weights_id uuid not null references weights,
    project_id uuid not null references project,
    primary key (job_id, network)
);
comment on table job_weights is 'Weights that a job starts its networks from; they cannot be deleted while a job refers to them.';
comment on column job_weights.network is 'Name of the network in the job.';
-- weights_delete: is it in use?
create index job_weights_used on job_weights (weights_id);

-- blob_reference: is a blob in use?
create index weights_file_blob on weights_file (blob_id);
create index weights_content_blob on weights (content_blob_id) where content_blob_id is not null;

create or replace view blob_reference as
    select blob_id from dataset_file
    union all select prepared_blob_id from dataset where prepared_blob_id is not null
    union all select blob_id from checkpoint where blob_id is not null
    union all select blob_id from artefact
    union all select blob_id from weights_file
    union all select content_blob_id from weights where content_blob_id is not null;

alter table event add column weights_id uuid;
comment on column event.revision is 'Revision of the job, data set or weights after the change.';
comment on column event.weights_id is 'The weights that changed, in events of theirs.';

create function weights_touch(subject uuid, what text, detail json, actor text) returns bigint
    language plpgsql as $$
declare
    owner uuid;
    new_revision bigint;
    event_id bigint;
begin
    update weights set revision = revision + 1, updated_at = clock_timestamp() where id = subject
        returning revision, project_id into new_revision, owner;
    if not found then
        return null;
    end if;
    perform pg_advisory_xact_lock(1634956001, 1);
    insert into event (project_id, weights_id, kind, revision, detail, actor)
        values (owner, subject, what, new_revision, detail, actor) returning id into event_id;
    perform change_notify('weights', subject, owner, new_revision, event_id);
    return new_revision;
end $$;
comment on function weights_touch is 'As job_touch, for weights.';

create view report.weights as
    select w.id, w.number, p.name as project, w.name, w.origin, w.url, w.licence, w.state, w.format,
        encode(w.digest, 'hex') as digest, w.tensor_count, w.element_count, w.error_text,
        w.created_by, w.created_at, w.finished_at
    from weights w join project p on p.id = w.project_id;
comment on view report.weights is 'Pretrained weights with where they come from.';
