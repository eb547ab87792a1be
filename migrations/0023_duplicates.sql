-- Trials that were submitted again.

alter table trial add column duplicate_of uuid references trial;
comment on column trial.duplicate_of is 'The trial that this one repeats, with or without changes.';
comment on column job.duplicate_of is 'The job this one, or its one trial, was duplicated from.';
