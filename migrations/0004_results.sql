-- What trials leave behind: points, summaries, evaluations, predictions, checkpoints, networks, logs.

create table metric_chunk (
    trial_id uuid not null references trial,
    metric text not null check (length(metric) between 1 and 63),
    first_step bigint not null,
    last_step bigint not null,
    fence bigint not null,
    project_id uuid not null references project,
    steps bigint[] not null,
    vals double precision[] not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (trial_id, metric, first_step),
    check (first_step <= last_step),
    check (cardinality(steps) between 1 and 8192 and cardinality(steps) = cardinality(vals)),
    check (steps[1] = first_step and steps[cardinality(steps)] = last_step)
);
comment on table metric_chunk is 'Points of one metric, in chunks of arrays; steps rise strictly within and between chunks.';
comment on column metric_chunk.vals is 'NaN and infinities are stored as such.';
comment on column metric_chunk.fence is 'The attempt that wrote it.';

create table metric_summary (
    trial_id uuid not null references trial,
    metric text not null,
    project_id uuid not null references project,
    n bigint not null check (n >= 1),
    last double precision not null,
    last_step bigint not null,
    min double precision,
    min_step bigint,
    max double precision,
    max_step bigint,
    primary key (trial_id, metric),
    check ((min is null) = (min_step is null) and (min is null) = (max is null) and (min is null) = (max_step is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
comment on table metric_summary is 'One row a trial and metric, so that lists never touch points. A function of the points.';
comment on column metric_summary.min is 'Of the finite values; null when there is none. NaN and infinities never win.';

create table evaluation (
    trial_id uuid not null references trial,
    part text not null check (part in ('train', 'validation', 'test')),
    fence bigint not null,
    project_id uuid not null references project,
    sample_count bigint not null,
    document json not null,
    created_at timestamptz not null default now(),
    primary key (trial_id, part)
);
comment on table evaluation is 'Evaluation of the finished network on one part, in evaluation mode over every sample.';
comment on column evaluation.document is 'Everything, per-class figures too, as the API shows it.';

create table evaluation_metric (
    trial_id uuid not null,
    part text not null,
    metric text not null check (length(metric) between 1 and 63),
    project_id uuid not null references project,
    value double precision not null,
    low double precision,
    high double precision,
    n bigint not null,
    primary key (trial_id, part, metric),
    foreign key (trial_id, part) references evaluation on delete cascade
);
comment on table evaluation_metric is 'The figures of an evaluation one by one, for results tables and ranking.';
comment on column evaluation_metric.low is '95 % interval; null for metrics without one.';

create table confusion_matrix (
    trial_id uuid not null,
    part text not null,
    project_id uuid not null references project,
    classes text[] not null,
    counts bigint[] not null,
    primary key (trial_id, part),
    foreign key (trial_id, part) references evaluation on delete cascade,
    check (cardinality(counts) = cardinality(classes) * cardinality(classes))
);
comment on table confusion_matrix is 'Counts row by row: rows = true class, columns = predicted class, in the order of classes.';

create table prediction_chunk (
    trial_id uuid not null,
    part text not null,
    n integer not null check (n >= 0),
    project_id uuid not null references project,
    samples bigint[] not null,
    truths integer[] not null,
    predicted integer[] not null,
    probabilities real[] not null,
    primary key (trial_id, part, n),
    foreign key (trial_id, part) references evaluation on delete cascade,
    check (cardinality(samples) between 1 and 8192 and cardinality(samples) = cardinality(truths)
        and cardinality(samples) = cardinality(predicted) and cardinality(samples) = cardinality(probabilities))
);
comment on table prediction_chunk is 'Predictions of an evaluation, sample by sample: index in the prepared set, classes by index, probability of the predicted one.';

create table checkpoint (
    trial_id uuid not null references trial,
    step bigint not null check (step >= 1),
    fence bigint not null,
    project_id uuid not null references project,
    epoch integer not null,
    node_id uuid not null,
    sha256 bytea not null check (length(sha256) = 32),
    size bigint not null,
    blob_id uuid references blob,
    core_build text not null,
    core_type text not null,
    instruction_set text not null,
    created_at timestamptz not null default now(),
    primary key (trial_id, step)
);
comment on table checkpoint is 'States a trial can go on from; committed with every point up to their step. The last two here and the last one with a blob are kept.';
comment on column checkpoint.node_id is 'Data directory that holds the file.';
comment on column checkpoint.blob_id is 'Copy in the database, readable by every worker; null for most.';

create table artefact (
    id uuid primary key,
    trial_id uuid not null references trial,
    kind text not null check (length(kind) between 1 and 63),
    fence bigint not null,
    project_id uuid not null references project,
    media_type text not null,
    blob_id uuid not null references blob,
    detail json,
    created_at timestamptz not null default now(),
    unique (trial_id, kind)
);
comment on table artefact is 'Files a trial leaves behind: its network, its profile.';
comment on column artefact.detail is 'What a reader must know of it, e.g. class names of a network.';

create table trial_log (
    trial_id uuid not null references trial,
    n bigint not null,
    fence bigint not null,
    project_id uuid not null references project,
    level text not null check (level in ('debug', 'info', 'warn', 'error')),
    line text not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (trial_id, n)
);
comment on table trial_log is 'Log lines of a trial over all attempts; the oldest go when trial.log_bytes passes the cap.';

-- blob_reference: is a blob in use?
create index checkpoint_blob on checkpoint (blob_id) where blob_id is not null;
create index artefact_blob on artefact (blob_id);

create view blob_reference as
    select blob_id from dataset_file
    union all select prepared_blob_id from dataset where prepared_blob_id is not null
    union all select blob_id from checkpoint where blob_id is not null
    union all select blob_id from artefact;
comment on view blob_reference is 'Every use of a blob. A new foreign key to blob must be added here.';
