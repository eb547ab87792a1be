-- What every change below a job or data set ends with, and the derived state of a job.

create function rfc3339(moment timestamptz) returns text
    language sql stable strict parallel safe
    return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
comment on function rfc3339 is 'Times as the API writes them: UTC, milliseconds.';

create function hex(id uuid) returns text
    language sql immutable strict parallel safe
    return replace(id::text, '-', '');
comment on function hex is 'Ids as the API writes them: 32 digits.';

create function job_state(paused boolean, queued bigint, running bigint, paused_trials bigint,
    completed bigint, stopped bigint, failed bigint) returns text
    language sql immutable parallel safe
    return case
        when running > 0 then 'running'
        when queued > 0 then case when paused then 'paused' else 'queued' end
        when paused_trials > 0 then 'paused'
        when completed > 0 then 'completed'
        when stopped > 0 then 'stopped'
        when failed > 0 then 'failed'
        else 'cancelled'
    end;
comment on function job_state is 'State of a job from the counts of its trials'' states: what is going on comes first; a finished job is completed when at least one trial is, and failed only when nothing came out.';

create function change_notify(what text, subject uuid, project uuid, revision bigint, event_id bigint)
    returns void language sql
    begin atomic
        select pg_notify('assay_changes', what || ' ' || hex(subject) || ' ' || hex(project)
            || ' ' || revision || ' ' || event_id);
    end;
comment on function change_notify is 'Payload: job|dataset, id, project, revision, event id.';

-- The counts are taken after the job row is locked, by a statement of its own and so with a snapshot
-- of its own: two transactions that move trials of one job cannot overlook each other.
create function job_touch(subject uuid, trial uuid, what text, detail json, actor text, recount boolean)
    returns bigint language plpgsql as $$
declare
    owner uuid;
    new_revision bigint;
    event_id bigint;
begin
    perform 1 from job where id = subject for no key update;
    if recount then
        update job j set
            queued_count = c.queued, running_count = c.running, paused_count = c.paused,
            completed_count = c.completed, stopped_count = c.stopped,
            cancelled_count = c.cancelled, failed_count = c.failed, state = c.state,
            started_at = coalesce(j.started_at, case when c.started then clock_timestamp() end),
            finished_at = case when c.queued + c.running + c.paused = 0
                then coalesce(j.finished_at, clock_timestamp()) end
        from (
            select s.*, job_state(
                (select k.paused from job k where k.id = subject), s.queued, s.running, s.paused,
                s.completed, s.stopped, s.failed) as state
            from (
                select count(*) filter (where t.state = 'queued') as queued,
                    count(*) filter (where t.state = 'running') as running,
                    count(*) filter (where t.state = 'paused') as paused,
                    count(*) filter (where t.state = 'completed') as completed,
                    count(*) filter (where t.state = 'stopped') as stopped,
                    count(*) filter (where t.state = 'cancelled') as cancelled,
                    count(*) filter (where t.state = 'failed') as failed,
                    coalesce(bool_or(t.started_at is not null), false) as started
                from trial t where t.job_id = subject) s) c
        where j.id = subject;
    end if;
    update job set revision = revision + 1, updated_at = clock_timestamp() where id = subject
        returning revision, project_id into new_revision, owner;
    if not found then
        return null;
    end if;
    perform pg_advisory_xact_lock(1634956001, 1);
    insert into event (project_id, job_id, trial_id, kind, revision, detail, actor)
        values (owner, subject, trial, what, new_revision, detail, actor) returning id into event_id;
    perform change_notify('job', subject, owner, new_revision, event_id);
    return new_revision;
end $$;
comment on function job_touch is 'Last call of every transaction that changes anything below a job: raises the revision, writes the event, notifies; recount = a trial''s state or the job''s pause changed.';

create function dataset_touch(subject uuid, what text, detail json, actor text) returns bigint
    language plpgsql as $$
declare
    owner uuid;
    new_revision bigint;
    event_id bigint;
begin
    update dataset set revision = revision + 1, updated_at = clock_timestamp() where id = subject
        returning revision, project_id into new_revision, owner;
    if not found then
        return null;
    end if;
    perform pg_advisory_xact_lock(1634956001, 1);
    insert into event (project_id, dataset_id, kind, revision, detail, actor)
        values (owner, subject, what, new_revision, detail, actor) returning id into event_id;
    perform change_notify('dataset', subject, owner, new_revision, event_id);
    return new_revision;
end $$;
comment on function dataset_touch is 'As job_touch, for a data set.';

create function trial_results_delete(subject uuid) returns void language sql
    begin atomic
        delete from metric_chunk where trial_id = subject;
        delete from metric_summary where trial_id = subject;
        delete from evaluation where trial_id = subject;
        delete from artefact where trial_id = subject;
        delete from checkpoint where trial_id = subject;
    end;
comment on function trial_results_delete is 'For a cancelled trial (nothing is kept) and a restart; logs and attempts stay.';

-- The new chunks are held in a variable between deletion and insertion, since both have equal keys.
create function trial_points_compact(subject uuid) returns void language plpgsql as $$
declare
    chunks metric_chunk[];
begin
    chunks := array(
        select row(subject, q.metric, min(q.step), max(q.step), q.fence,
            (select t.project_id from trial t where t.id = subject), array_agg(q.step order by q.step),
            array_agg(q.value order by q.step), max(q.created_at))::metric_chunk
        from (
            select c.metric, c.fence, p.step, p.value, c.created_at,
                (row_number() over (partition by c.metric, c.fence order by p.step) - 1) / 4096 as part
            from metric_chunk c, unnest(c.steps, c.vals) as p (step, value)
            where c.trial_id = subject) q
        group by q.metric, q.fence, q.part);
    delete from metric_chunk where trial_id = subject;
    insert into metric_chunk select (unnest(chunks)).*;
end $$;
comment on function trial_points_compact is 'Joins the chunks of a second each, once a trial has ended, into chunks of 4096 points.';

create function trial_summaries_rebuild(subject uuid) returns void language sql
    begin atomic
        delete from metric_summary where trial_id = subject;
        insert into metric_summary (trial_id, metric, project_id, n, last, last_step, min, min_step,
            max, max_step)
        select subject, c.metric, c.project_id, count(*),
            (array_agg(p.value order by p.step desc))[1], max(p.step),
            (array_agg(p.value order by p.value, p.step) filter (where p.finite))[1],
            (array_agg(p.step order by p.value, p.step) filter (where p.finite))[1],
            (array_agg(p.value order by p.value desc, p.step) filter (where p.finite))[1],
            (array_agg(p.step order by p.value desc, p.step) filter (where p.finite))[1]
        from metric_chunk c, lateral (
            select u.step, u.value, u.value > '-Infinity' and u.value < 'Infinity' as finite
            from unnest(c.steps, c.vals) as u (step, value)) p
        where c.trial_id = subject
        group by c.metric, c.project_id;
    end;
comment on function trial_summaries_rebuild is 'Summaries as a function of the points that are there: after points were cut off at a resume.';
