-- Experiments, jobs, trials and their attempts.

create table experiment (
    id uuid primary key,
    number bigint generated always as identity unique,
    project_id uuid not null references project,
    name text not null check (length(name) between 1 and 200),
    notes text not null default '',
    created_by text not null,
    created_at timestamptz not null default now(),
    unique (project_id, name)
);
comment on table experiment is 'A name that groups jobs over time.';
-- experiments_list: newest first.
create index experiment_newest on experiment (project_id, number);

create table job (
    id uuid primary key,
    number bigint generated always as identity unique,
    project_id uuid not null references project,
    experiment_id uuid references experiment,
    dataset_id uuid not null references dataset,
    name text not null default '' check (length(name) <= 200),
    kind text not null,
    submitted json not null,
    resolved json not null,
    hash bytea not null check (length(hash) = 32),
    headline_metric text not null,
    headline_direction text not null check (headline_direction in ('higher', 'lower')),
    notes text not null default '',
    labels text[] not null default '{}',
    priority integer not null default 0,
    paused boolean not null default false,
    archived boolean not null default false,
    duplicate_of uuid references job,
    state text not null default 'queued' check (state in
        ('queued', 'running', 'paused', 'completed', 'stopped', 'cancelled', 'failed')),
    trial_count integer not null,
    queued_count integer not null default 0,
    running_count integer not null default 0,
    paused_count integer not null default 0,
    completed_count integer not null default 0,
    stopped_count integer not null default 0,
    cancelled_count integer not null default 0,
    failed_count integer not null default 0,
    revision bigint not null default 1,
    created_by text not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz,
    check ((state in ('completed', 'stopped', 'cancelled', 'failed')) = (finished_at is not null))
) with (fillfactor = 80);
comment on table job is 'What a person submits: a spec that unfolds into trials.';
comment on column job.submitted is 'The spec as it came; type json keeps it to the byte.';
comment on column job.resolved is 'The spec with every default written out.';
comment on column job.headline_metric is '<part>_<metric> of the evaluation by which trials are ranked, e.g. validation_accuracy.';
comment on column job.paused is 'A person''s wish: no trial of it is started (trial.held is its copy for the queue).';
comment on column job.state is 'Derived from the trials by job_touch; the counts too.';
comment on column job.revision is 'Raised last in every transaction that touches anything below the job. ETag of polls.';
comment on column job.duplicate_of is 'The job this one was duplicated from.';
-- jobs_list: newest first, and by last change.
create index job_newest on job (project_id, number);
create index job_changed on job (project_id, updated_at, number);
-- jobs_list and experiments: jobs of one experiment; counts per experiment.
create index job_experiment on job (experiment_id, number) where experiment_id is not null;
-- datasets_delete: is a data set in use? jobs_list: jobs of one data set.
create index job_dataset on job (dataset_id, number);

create table trial (
    id uuid primary key,
    number bigint generated always as identity unique,
    project_id uuid not null references project,
    job_id uuid not null references job,
    idx integer not null check (idx >= 1),
    parameters json not null,
    seed numeric(20) not null,
    resolved json not null,
    hash bytea not null check (length(hash) = 32),
    notes text not null default '',
    discarded boolean not null default false,
    priority integer not null default 0,
    held boolean not null default false,
    not_before timestamptz not null default now(),
    state text not null default 'queued' check (state in
        ('queued', 'running', 'paused', 'completed', 'stopped', 'cancelled', 'failed')),
    attempt integer not null default 0 check (attempt >= 0),
    max_attempts integer not null default 3 check (max_attempts >= 1),
    fence bigint not null default 0,
    worker_id uuid references worker,
    lease_until timestamptz,
    heartbeat_at timestamptz,
    cancel_requested_at timestamptz,
    stop_requested_at timestamptz,
    pause_requested_at timestamptz,
    step bigint not null default 0,
    total_steps bigint,
    epoch integer not null default 0,
    phase text not null default '',
    progress_at timestamptz,
    checkpoint_step bigint not null default 0,
    reached_step bigint not null default 0,
    log_bytes bigint not null default 0,
    headline_value double precision,
    error_class text check (error_class in ('invalid_input', 'diverged', 'out_of_memory', 'crashed',
        'timeout', 'worker_lost', 'internal')),
    error_text text,
    created_at timestamptz not null default now(),
    queued_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz,
    unique (job_id, idx),
    check (attempt <= max_attempts),
    check ((state = 'running') = (worker_id is not null)),
    check ((state = 'running') = (lease_until is not null)),
    check ((state in ('completed', 'stopped', 'cancelled', 'failed')) = (finished_at is not null)),
    check ((state = 'failed') = (error_class is not null)),
    check ((error_class is null) = (error_text is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
comment on table trial is 'One training run of a job, and at the same time the queue: a worker claims a queued row.';
comment on column trial.idx is 'Position in the job''s sweep, from 1.';
comment on column trial.parameters is 'The swept values alone: {"training.solver": "adam"}.';
comment on column trial.hash is 'SHA-256 of the canonical resolved spec: equal hash, equal trial.';
comment on column trial.held is 'The job is paused: not to be claimed. Set for every trial of the job, whatever its state.';
comment on column trial.attempt is 'Claims since the start, the last restart, or the last attempt that committed a later checkpoint; a lost trial is given up at max_attempts.';
comment on column trial.fence is 'Claims ever: every write of an attempt names it, so that a lost attempt can write nothing.';
comment on column trial.heartbeat_at is 'Last sign of the supervisor; not indexed, so that heartbeats stay cheap.';
comment on column trial.cancel_requested_at is 'A person''s wish that the running attempt reads with each heartbeat; likewise stop and pause.';
comment on column trial.progress_at is 'Last sign of the training loop itself.';
comment on column trial.checkpoint_step is 'Step of the latest checkpoint there is; 0 = none.';
comment on column trial.reached_step is 'Highest checkpoint ever since the start or the last restart: an attempt that passes it has its count begin anew.';
comment on column trial.headline_value is 'The job''s headline metric of this trial, set with the evaluation.';
-- trials_claim: the queue in its order.
create index trial_queue on trial (priority desc, number) where state = 'queued' and not held;
-- trials_reap: leases that ran out; the project's running limit; trials of a dead instance.
create index trial_lease on trial (lease_until) where state = 'running';
create index trial_running on trial (project_id, worker_id) where state = 'running';
-- trials_list of a whole project, newest first.
create index trial_newest on trial (project_id, number);
-- trials_find_equal: has this been run before?
create index trial_hash on trial (project_id, hash);

create table attempt (
    trial_id uuid not null references trial,
    fence bigint not null check (fence >= 1),
    n integer not null check (n >= 1),
    project_id uuid not null references project,
    worker_id uuid not null references worker,
    core_build text not null,
    core_type text not null,
    instruction_set text not null,
    libraries text not null,
    cpu text not null,
    threads integer not null,
    claimed_at timestamptz not null,
    lease_until timestamptz,
    ended_at timestamptz,
    resumed_step bigint,
    bits_may_differ boolean not null default false,
    outcome text check (outcome in ('completed', 'stopped', 'cancelled', 'paused', 'released', 'failed',
        'crashed', 'lost')),
    error_class text,
    error_text text,
    primary key (trial_id, fence),
    check ((ended_at is null) = (outcome is null))
);
comment on table attempt is 'One claim of a trial: who ran it, on what, from when to when, and how it ended.';
comment on column attempt.n is 'trial.attempt at the claim; not above max_attempts.';
comment on column attempt.lease_until is 'The lease as it stood when the attempt ended; null before.';
comment on column attempt.resumed_step is 'Step after which it went on; 0 = from the start; null = never got that far.';
comment on column attempt.bits_may_differ is 'It resumed a checkpoint of another core build, core type or instruction set.';
comment on column attempt.outcome is 'released = given back on shutdown; crashed and lost = the trial was queued again or failed.';
