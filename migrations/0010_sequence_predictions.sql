-- Predictions of regressions over sequences.

create table sequence_prediction (
    trial_id uuid not null,
    part text not null,
    n bigint not null check (n >= 1),
    project_id uuid not null references project,
    sample bigint not null check (sample >= 0),
    name text not null,
    length bigint not null check (length >= 1),
    targets real[] not null,
    predicted real[] not null,
    primary key (trial_id, part, n),
    unique (trial_id, part, sample),
    foreign key (trial_id, part) references evaluation on delete cascade,
    check (cardinality(targets) in (1, length) and cardinality(targets) = cardinality(predicted))
);
comment on table sequence_prediction is 'Predictions of an evaluation, a sequence a row, in the target''s own unit; NaN and infinities are stored as such.';
comment on column sequence_prediction.n is 'Place in the evaluation.';
comment on column sequence_prediction.sample is 'Index in the prepared set.';
comment on column sequence_prediction.length is 'Steps of the sequence. A network that predicts from the last step alone leaves arrays of one number.';
comment on column sequence_prediction.targets is 'As training saw them: cut off at its threshold.';
