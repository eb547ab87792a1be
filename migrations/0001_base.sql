-- Projects, tokens, workers, idempotency, the outbox of events, blobs.
-- Ids are UUIDv7 made by the service; times are the database's.

create table project (
    id uuid primary key,
    number bigint generated always as identity unique,
    name text not null unique check (length(name) between 1 and 200),
    max_running integer check (max_running >= 0),
    created_at timestamptz not null default now()
);
comment on table project is 'Everything belongs to one project; nothing is visible across projects.';
comment on column project.number is 'Readable number; the experiment id of the MLflow interface.';
comment on column project.max_running is 'Trials of the project that may run at once; null = no limit. Claims read it without a lock, so that two at the same moment may exceed it by one.';

insert into project (id, name) values ('00000000-0000-7000-8000-000000000001', 'default');

create table api_token (
    id uuid primary key,
    project_id uuid not null references project,
    name text not null check (length(name) between 1 and 200),
    role text not null check (role in ('viewer', 'submitter', 'admin')),
    digest bytea not null unique check (length(digest) = 32),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
);
comment on table api_token is 'Access tokens. The token itself is shown once and never stored.';
comment on column api_token.digest is 'SHA-256 of the token; the unique index serves the look-up of each request.';
comment on column api_token.last_used_at is 'Updated at most once a minute.';

create table worker (
    id uuid primary key,
    number bigint generated always as identity unique,
    node_id uuid not null,
    host text not null,
    pid integer not null,
    build text not null,
    core_type text not null,
    instruction_set text not null,
    cpu text not null,
    core_tokens integer not null,
    started_at timestamptz not null default now(),
    heartbeat_at timestamptz not null default now(),
    stopped_at timestamptz
);
comment on table worker is 'One row a start of `assayd work`: an instance. Never taken up again by a later start.';
comment on column worker.number is 'Second key of the session advisory lock that the instance holds while it lives.';
comment on column worker.node_id is 'Identity of the data directory. A new instance on it takes the trials of dead instances back at once.';
comment on column worker.stopped_at is 'Null while it lives, or died without a word.';
-- workers_reap_node: instances of this data directory that never said they stopped; counters.
create index worker_open on worker (node_id) where stopped_at is null;

create table idempotency_key (
    project_id uuid not null references project,
    key text not null check (length(key) between 1 and 255),
    request_digest bytea not null check (length(request_digest) = 32),
    resource text not null,
    resource_id uuid not null,
    created_at timestamptz not null default now(),
    primary key (project_id, key)
);
comment on table idempotency_key is 'Which creating request made which resource, so that a repeated one answers alike. Kept for a day.';
comment on column idempotency_key.request_digest is 'SHA-256 of method, path and canonical body: another request under the same key is refused.';
-- idempotency_trim: keys older than a day.
create index idempotency_key_age on idempotency_key (created_at);

create table event (
    id bigint generated always as identity primary key,
    project_id uuid not null references project,
    job_id uuid,
    trial_id uuid,
    dataset_id uuid,
    kind text not null,
    revision bigint not null,
    detail json,
    actor text not null,
    created_at timestamptz not null default now()
);
comment on table event is 'Outbox: written in the transaction that changes something, read by the event stream, trimmed by age and count. No foreign keys: an event may outlive what it speaks of.';
comment on column event.id is 'In order of commit: inserted last in its transaction, under an advisory lock held to the commit.';
comment on column event.revision is 'Revision of the job or data set after the change.';
-- events_read: the stream of one project after an id.
create index event_stream on event (project_id, id);
-- events_trim: rows older than the retention.
create index event_age on event (created_at);

create table blob (
    id uuid primary key,
    project_id uuid not null references project,
    sha256 bytea check (length(sha256) = 32),
    size bigint not null default 0 check (size >= 0),
    hash_state bytea,
    unreferenced_since timestamptz,
    created_at timestamptz not null default now(),
    unique (project_id, sha256),
    check (sha256 is null or hash_state is null)
);
comment on table blob is 'Large bytes, addressed by content within a project. Every use is a foreign key (view blob_reference); unreferenced for an hour = collected.';
comment on column blob.sha256 is 'Of the whole content; null while it is being written.';
comment on column blob.hash_state is 'State of SHA-256 over the whole chunks so far, so that an upload can go on in another process.';
comment on column blob.unreferenced_since is 'Set by the collector when it first finds no reference, cleared by every append and use.';
-- blobs_collect: candidates.
create index blob_unreferenced on blob (unreferenced_since) where unreferenced_since is not null;

create table blob_chunk (
    blob_id uuid not null references blob on delete cascade,
    n integer not null check (n >= 0),
    data bytea not null check (length(data) between 1 and 1048576),
    primary key (blob_id, n)
);
alter table blob_chunk alter column data set storage external;
comment on table blob_chunk is 'Bytes n * 1 MiB and following of a blob; all chunks but the last are full. Not compressed: contents are compressed already or random.';
