-- Data sets, their files, and the import task that a worker claims.

create table dataset (
    id uuid primary key,
    number bigint generated always as identity unique,
    project_id uuid not null references project,
    name text not null check (length(name) between 1 and 200),
    kind text not null,
    layout text not null,
    options json,
    notes text not null default '',
    state text not null default 'uploading'
        check (state in ('uploading', 'checking', 'ready', 'refused')),
    report json,
    error_text text,
    digest bytea check (length(digest) = 32),
    prepared_blob_id uuid references blob,
    height integer, width integer, channels integer, class_count integer,
    train_count bigint, validation_count bigint, test_count bigint,
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
    check ((state = 'ready') = (prepared_blob_id is not null and digest is not null and height is not null
        and width is not null and channels is not null and class_count is not null
        and train_count is not null and validation_count is not null and test_count is not null)),
    check ((state = 'refused') = (error_text is not null))
) with (fillfactor = 80);
comment on table dataset is 'A data set: declared, uploaded, checked and prepared by an import child, then immutable.';
comment on column dataset.options is 'What the submitter chose for the import (image size, what to do with refused entries).';
comment on column dataset.report is 'Report of the import: classes, counts, refused and ignored entries, duplicates, conflicts.';
comment on column dataset.digest is 'SHA-256 of the prepared content, part of every trial''s identity.';
comment on column dataset.worker_id is 'Instance that runs the import; null while it waits. Lease and fence as in trial.';
comment on column dataset.attempt is 'Claims of the import so far; given up at max_attempts.';
-- imports_claim: the queue of imports.
create index dataset_queue on dataset (number) where state = 'checking' and worker_id is null;
-- imports_reap: leases that ran out.
create index dataset_lease on dataset (lease_until) where lease_until is not null;
-- datasets_list: newest first (name order uses the unique key).
create index dataset_newest on dataset (project_id, number);

create table dataset_file (
    dataset_id uuid not null references dataset on delete cascade,
    name text not null check (length(name) between 1 and 255),
    n integer not null,
    project_id uuid not null references project,
    blob_id uuid not null references blob,
    declared_size bigint check (declared_size >= 0),
    declared_sha256 bytea check (length(declared_sha256) = 32),
    received_size bigint not null default 0,
    complete boolean not null default false,
    primary key (dataset_id, name)
);
comment on table dataset_file is 'The files that make up a data set, as declared when it was created.';
comment on column dataset_file.n is 'Position in the declaration.';
comment on column dataset_file.received_size is 'Where the upload stands: the next byte must have this offset.';
-- blob_reference: is a blob in use?
create index dataset_file_blob on dataset_file (blob_id);
create index dataset_prepared_blob on dataset (prepared_blob_id) where prepared_blob_id is not null;
