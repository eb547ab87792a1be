-- What a chunk's points come to, kept with it: summaries are rebuilt and chunks are joined without
-- looking at every point of a long run.
create function points_extremes(steps bigint[], vals double precision[], out low double precision,
    out low_step bigint, out high double precision, out high_step bigint)
    language sql immutable parallel safe
    begin atomic
        select (array_agg(u.value order by u.value, u.step))[1], (array_agg(u.step order by u.value, u.step))[1],
            (array_agg(u.value order by u.value desc, u.step))[1], (array_agg(u.step order by u.value desc, u.step))[1]
        from unnest(steps, vals) as u (step, value)
        where u.value > '-Infinity' and u.value < 'Infinity';
    end;
comment on function points_extremes is 'Smallest and largest finite value and the first steps that have them; null where there is none.';

alter table metric_chunk add column n integer not null generated always as (cardinality(steps)) stored,
    add column low double precision, add column low_step bigint, add column high double precision,
    add column high_step bigint;
update metric_chunk c set (low, low_step, high, high_step) =
    (select e.low, e.low_step, e.high, e.high_step from points_extremes(c.steps, c.vals) e);
alter table metric_chunk add check ((low is null) = (low_step is null) and (low is null) = (high is null)
    and (low is null) = (high_step is null));
comment on column metric_chunk.n is 'Points, to be counted without fetching them.';
comment on column metric_chunk.low is 'Smallest finite value, first of its kind; null where no value is finite. Likewise high.';

alter table trial add column fragmented boolean not null default false;
comment on column trial.fragmented is 'It has ended and its chunks of a second each are still to be joined.';
-- points_compact: what is still to be joined.
create index trial_fragmented on trial (finished_at) where fragmented;

create or replace function trial_summaries_rebuild(subject uuid) returns void language sql
    begin atomic
        delete from metric_summary where trial_id = subject;
        insert into metric_summary (trial_id, metric, project_id, n, last, last_step, min, min_step,
            max, max_step)
        select subject, c.metric, c.project_id, sum(c.n),
            (select l.vals[cardinality(l.vals)] from metric_chunk l where l.trial_id = subject
                and l.metric = c.metric order by l.first_step desc limit 1),
            max(c.last_step),
            (array_agg(c.low order by c.low, c.low_step) filter (where c.low is not null))[1],
            (array_agg(c.low_step order by c.low, c.low_step) filter (where c.low is not null))[1],
            (array_agg(c.high order by c.high desc, c.high_step) filter (where c.high is not null))[1],
            (array_agg(c.high_step order by c.high desc, c.high_step) filter (where c.high is not null))[1]
        from metric_chunk c
        where c.trial_id = subject
        group by c.metric, c.project_id;
    end;

drop function trial_points_compact(uuid);
-- Small chunks that follow one another become chunks of 4096 to 8191 points; what lies between two
-- large ones is joined by itself, so that chunks never overlap.
create function trial_points_compact(subject uuid, most integer) returns integer language plpgsql as $$
declare
    piece record;
    whole record;
    done integer := 0;
begin
    for piece in
        select q.metric, q.fence, min(q.first_step) as first_step, max(q.last_step) as last_step
        from (
            select s.*, (sum(s.n) over w - s.n) / 4096 as part
            from (
                select c.metric, c.fence, c.first_step, c.last_step, c.n, count(*) filter (where c.n >= 4096)
                    over (partition by c.metric, c.fence order by c.first_step) as behind
                from metric_chunk c where c.trial_id = subject) s
            where s.n < 4096
            window w as (partition by s.metric, s.fence, s.behind order by s.first_step)) q
        group by q.metric, q.fence, q.behind, q.part
        having count(*) > 1
        order by q.metric, min(q.first_step)
        limit most
    loop
        select c.project_id, max(c.created_at) as created_at, array_agg(u.step order by u.step) as steps,
                array_agg(u.value order by u.step) as vals
            into strict whole
            from metric_chunk c, unnest(c.steps, c.vals) as u (step, value)
            where c.trial_id = subject and c.metric = piece.metric
                and c.first_step between piece.first_step and piece.last_step
            group by c.project_id;
        delete from metric_chunk c where c.trial_id = subject and c.metric = piece.metric
            and c.first_step between piece.first_step and piece.last_step;
        insert into metric_chunk (trial_id, metric, first_step, last_step, fence, project_id, steps,
                vals, created_at, low, low_step, high, high_step)
            select subject, piece.metric, piece.first_step, piece.last_step, piece.fence, whole.project_id,
                whole.steps, whole.vals, whole.created_at, e.low, e.low_step, e.high, e.high_step
            from points_extremes(whole.steps, whole.vals) e;
        done := done + 1;
    end loop;
    return done;
end $$;
comment on function trial_points_compact is 'Joins up to `most` groups of small chunks of an ended trial; how many it joined.';
