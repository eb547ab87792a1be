-- What a job was warned of when it was submitted is kept with it.

alter table job add column warnings json not null default '[]';
comment on column job.warnings is 'What is allowed and seldom meant, as the dry run says it: [{code, pointer, text}]. Those of jobs from before are not known.';
