-- The errors of a predicted sequence beside its arrays, so that a list can be sorted by them and says
-- them without opening the arrays. Generated: a server of the version before writes rows as it did.

create function sequence_worst_step(targets real[], predicted real[]) returns bigint
    language sql immutable strict parallel safe
    return (select u.k from unnest(targets, predicted) with ordinality as u (t, p, k)
            order by abs(u.p::double precision - u.t::double precision) desc, u.k limit 1);
create function sequence_worst_error(targets real[], predicted real[]) returns double precision
    language sql immutable strict parallel safe
    return (select max(abs(u.p::double precision - u.t::double precision)) from unnest(targets, predicted) as u (t, p));
create function sequence_rmse(targets real[], predicted real[]) returns double precision
    language sql immutable strict parallel safe
    return (select sqrt(avg((u.p::double precision - u.t::double precision) * (u.p::double precision - u.t::double precision)))
            from unnest(targets, predicted) as u (t, p));

alter table sequence_prediction
    add column worst_step bigint generated always as (sequence_worst_step(targets, predicted)) stored,
    add column worst_error double precision generated always as (sequence_worst_error(targets, predicted)) stored,
    add column rmse double precision generated always as (sequence_rmse(targets, predicted)) stored;
comment on column sequence_prediction.worst_step is 'Place in the arrays, from 1, of the largest absolute error; NaN counts as the largest.';
comment on column sequence_prediction.worst_error is 'Largest absolute error of a step.';
comment on column sequence_prediction.rmse is 'Root of the mean squared error over the steps.';
