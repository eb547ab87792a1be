-- Explanations asked for later are questions with options; a refusal says its code.

alter table prediction
    add column explain json,
    add column output_blob_id uuid references blob,
    drop constraint prediction_check3,
    add constraint prediction_report_check check ((report is not null) = (state = 'ready') or state = 'refused'),
    add constraint prediction_output_check check (output_blob_id is null or state = 'ready');
comment on column prediction.explain is
    'Asked to explain: {options, class, picture: facts of the data set''s item, or null}. Null: what does the network say?';
comment on column prediction.output_blob_id is 'Maps and activations, where report says what each is.';
comment on column prediction.report is
    'The answer: class probabilities, or predicted values in the target''s unit; of a refusal {code, pointer}, or null.';
-- blob_reference: is a blob in use?
create index prediction_output on prediction (output_blob_id) where output_blob_id is not null;

create or replace view blob_reference as
    select blob_id from dataset_file
    union all select prepared_blob_id from dataset where prepared_blob_id is not null
    union all select blob_id from checkpoint where blob_id is not null
    union all select blob_id from artefact
    union all select blob_id from weights_file
    union all select content_blob_id from weights where content_blob_id is not null
    union all select input_blob_id from prediction
    union all select output_blob_id from prediction where output_blob_id is not null;
