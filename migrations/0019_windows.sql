-- Sequences that were cut into windows are predicted where windows end: any number of steps from one to all.

alter table sequence_prediction
    drop constraint sequence_prediction_check,
    add constraint sequence_prediction_check
        check (cardinality(targets) between 1 and length and cardinality(targets) = cardinality(predicted));
comment on column sequence_prediction.length is 'Steps of the sequence. Arrays are shorter where fewer are predicted: the last alone, or windows; they end with the last step.';
