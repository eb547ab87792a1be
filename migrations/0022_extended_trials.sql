-- Trials that go on with more epochs than they were submitted with.

alter table trial add column checkpoint_hash bytea check (length(checkpoint_hash) = 32);
comment on column trial.checkpoint_hash is 'trial.hash as it was before the first extension, by which checkpoints are known: more epochs change the spec, not what was trained. Null: never extended.';
comment on column trial.resolved is 'All that the trial''s process needs; an extension writes its epochs here.';
comment on column trial.attempt is 'Claims since the start, the last restart or extension, or the last attempt that committed a later checkpoint; a lost trial is given up at max_attempts.';
comment on column trial.headline_value is 'The job''s headline metric of this trial, set with the evaluation; that of before stays while the trial is extended.';
comment on table evaluation is 'Evaluation of the finished network on one part, in evaluation mode over every sample. Of an extended trial that of before stays until the new one replaces it.';
