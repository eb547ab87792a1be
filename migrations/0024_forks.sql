-- Trials that begin with the weights of another trial's checkpoint.

alter table trial
    add column forked_from uuid references trial,
    add column forked_step bigint,
    add column start_blob_id uuid references blob,
    add check ((forked_from is null) = (forked_step is null) and (forked_from is null) = (start_blob_id is null));
comment on column trial.forked_from is 'The trial whose checkpoint this one begins with.';
comment on column trial.forked_step is 'Step of that checkpoint.';
comment on column trial.start_blob_id is 'That checkpoint, kept for this trial whatever becomes of the other.';
-- blob_reference: is a blob in use?
create index trial_start on trial (start_blob_id) where start_blob_id is not null;

create or replace view blob_reference as
    select blob_id from dataset_file
    union all select prepared_blob_id from dataset where prepared_blob_id is not null
    union all select blob_id from checkpoint where blob_id is not null
    union all select blob_id from artefact
    union all select blob_id from weights_file
    union all select content_blob_id from weights where content_blob_id is not null
    union all select input_blob_id from prediction
    union all select output_blob_id from prediction where output_blob_id is not null
    union all select start_blob_id from trial where start_blob_id is not null;
