-- What must hold at every moment, whatever was killed. Each statement returns rows only when its rule
-- is broken; the first column names the rule. Run by the chaos suite after every round and by the unit
-- tests of the store.

select 'running_has_a_lease' as rule, t.id::text as subject from trial t
where (t.state = 'running') <> (t.worker_id is not null and t.lease_until is not null);

select 'final_has_an_end' as rule, t.id::text as subject from trial t
where (t.state in ('completed', 'stopped', 'cancelled', 'failed')) <> (t.finished_at is not null);

select 'failed_has_a_class' as rule, t.id::text as subject from trial t
where (t.state = 'failed') <> (t.error_class is not null);

select 'running_has_an_open_attempt' as rule, t.id::text as subject from trial t
where t.state = 'running' and not exists (
    select 1 from attempt a where a.trial_id = t.id and a.fence = t.fence and a.ended_at is null
        and a.worker_id = t.worker_id);

select 'an_open_attempt_runs' as rule, a.trial_id::text || '/' || a.fence as subject
from attempt a join trial t on t.id = a.trial_id
where a.ended_at is null and not (t.state = 'running' and t.fence = a.fence);

select 'completed_has_its_evaluation' as rule, t.id::text as subject from trial t
where t.state in ('completed', 'stopped') and not exists (
    select 1 from evaluation e where e.trial_id = t.id and e.fence = t.fence);

-- But for a trial that goes on after an end: then it is that end's.
select 'unfinished_has_no_evaluation' as rule, t.id::text as subject from trial t
where t.state not in ('completed', 'stopped', 'failed') and exists (
    select 1 from evaluation e where e.trial_id = t.id and (t.checkpoint_hash is null or not exists (
        select 1 from attempt a where a.trial_id = t.id and a.fence = e.fence
            and a.outcome in ('completed', 'stopped'))));

select 'cancelled_keeps_nothing' as rule, t.id::text as subject from trial t
where t.state = 'cancelled' and (
    exists (select 1 from metric_chunk c where c.trial_id = t.id)
    or exists (select 1 from metric_summary s where s.trial_id = t.id)
    or exists (select 1 from artefact a where a.trial_id = t.id)
    or exists (select 1 from step_profile p where p.trial_id = t.id)
    or exists (select 1 from checkpoint k where k.trial_id = t.id));

select 'one_attempt_ends_it' as rule, a.trial_id::text as subject
from attempt a join trial t on t.id = a.trial_id
where a.outcome in ('completed', 'stopped') and a.fence = t.fence
    and t.state not in ('completed', 'stopped', 'queued')
    and not (t.state = 'cancelled' and t.queued_at > a.ended_at); -- restarted or extended, then cancelled

select 'fences_rise_with_time' as rule, a.trial_id::text || '/' || b.fence as subject
from attempt a join attempt b on b.trial_id = a.trial_id and b.fence > a.fence
where b.claimed_at <= a.claimed_at;

select 'leases_do_not_overlap' as rule, a.trial_id::text || '/' || b.fence as subject
from attempt a join attempt b on b.trial_id = a.trial_id and b.fence > a.fence
where a.ended_at is null or a.ended_at > b.claimed_at;

select 'every_fence_was_granted' as rule, t.id::text as subject from trial t
where t.fence <> (select count(*) from attempt a where a.trial_id = t.id)
    or t.fence <> coalesce((select max(a.fence) from attempt a where a.trial_id = t.id), 0);

select 'attempts_stay_within_their_limit' as rule, a.trial_id::text || '/' || a.fence as subject
from attempt a join trial t on t.id = a.trial_id
where a.n > t.max_attempts or t.attempt > t.max_attempts;

select 'written_under_a_granted_fence' as rule, w.what || ' ' || w.trial_id as subject
from (
    select 'points' as what, trial_id, fence from metric_chunk
    union all select 'evaluation', trial_id, fence from evaluation
    union all select 'checkpoint', trial_id, fence from checkpoint
    union all select 'artefact', trial_id, fence from artefact
    union all select 'log', trial_id, fence from trial_log) w
where not exists (select 1 from attempt a where a.trial_id = w.trial_id and a.fence = w.fence);

select 'no_point_stands_twice' as rule, c.trial_id || ' ' || c.metric || ' ' || p.step as subject
from metric_chunk c, unnest(c.steps) as p (step)
group by c.trial_id, c.metric, p.step having count(*) > 1;

select 'steps_rise_within_a_chunk' as rule, q.trial_id || ' ' || q.metric || ' ' || q.step as subject
from (
    select c.trial_id, c.metric, p.step,
        lag(p.step) over (partition by c.trial_id, c.metric, c.first_step order by p.i) as before
    from metric_chunk c, unnest(c.steps) with ordinality as p (step, i)) q
where q.step <= q.before;

select 'summaries_tell_the_points' as rule, coalesce(s.trial_id, p.trial_id) || ' ' || coalesce(s.metric, p.metric) as subject
from metric_summary s
full join (
    select c.trial_id, c.metric, count(*) as n, max(u.step) as last_step,
        (array_agg(u.value order by u.step desc))[1] as last,
        min(u.value) filter (where u.value > '-Infinity' and u.value < 'Infinity') as min,
        max(u.value) filter (where u.value > '-Infinity' and u.value < 'Infinity') as max
    from metric_chunk c, unnest(c.steps, c.vals) as u (step, value)
    group by c.trial_id, c.metric) p using (trial_id, metric)
where (s.n, s.last_step, s.last, s.min, s.max) is distinct from (p.n, p.last_step, p.last, p.min, p.max);

select 'chunks_tell_their_extremes' as rule, c.trial_id || ' ' || c.metric || ' ' || c.first_step as subject
from metric_chunk c, points_extremes(c.steps, c.vals) e
where (c.low, c.low_step, c.high, c.high_step) is distinct from (e.low, e.low_step, e.high, e.high_step);

select 'chunks_do_not_overlap' as rule, q.trial_id || ' ' || q.metric || ' ' || q.first_step as subject
from (
    select c.trial_id, c.metric, c.first_step,
        lag(c.last_step) over (partition by c.trial_id, c.metric order by c.first_step) as before
    from metric_chunk c) q
where q.first_step <= q.before;

select 'points_stand_before_the_end' as rule, t.id || ' ' || s.metric as subject
from trial t join metric_summary s on s.trial_id = t.id
where s.last_step > greatest(t.step, coalesce(t.total_steps, 0));

select 'checkpoints_match_the_trial' as rule, t.id::text as subject from trial t
where t.state <> 'cancelled'
    and t.checkpoint_step <> coalesce((select max(k.step) from checkpoint k where k.trial_id = t.id), 0);

select 'confusion_counts_every_sample' as rule, m.trial_id || ' ' || m.part as subject
from confusion_matrix m join evaluation e using (trial_id, part)
where (select coalesce(sum(c), 0) from unnest(m.counts) c)
    + coalesce((e.document ->> 'unclassified')::bigint, 0) <> e.sample_count;

select 'predictions_count_every_sample' as rule, p.trial_id || ' ' || p.part as subject
from (select trial_id, part, sum(cardinality(samples)) as n from prediction_chunk group by trial_id, part) p
join evaluation e using (trial_id, part)
where p.part <> 'train' and p.n <> e.sample_count;

-- Of the part that trained the mistakes alone: what the matrix has beside its diagonal, and what was given no class.
select 'mistakes_of_training_are_counted' as rule, m.trial_id::text as subject
from confusion_matrix m join evaluation e using (trial_id, part)
where m.part = 'train'
    and coalesce((e.document ->> 'unclassified')::bigint, 0) + (select coalesce(sum(c) filter (where (i - 1) % (cardinality(m.classes) + 1) <> 0), 0)
        from unnest(m.counts) with ordinality u (c, i))
    <> (select coalesce(sum(cardinality(p.samples)), 0) from prediction_chunk p
        where p.trial_id = m.trial_id and p.part = m.part);

select 'predictions_count_every_sequence' as rule, p.trial_id || ' ' || p.part as subject
from (select trial_id, part, count(*) as n, max(n) as last from sequence_prediction group by trial_id, part) p
join evaluation e using (trial_id, part)
where p.n <> e.sample_count or p.last <> e.sample_count;

select 'jobs_count_their_trials' as rule, j.id::text as subject
from job j
left join (
    select t.job_id, count(*) as n, count(*) filter (where t.state = 'queued') as queued,
        count(*) filter (where t.state = 'running') as running,
        count(*) filter (where t.state = 'paused') as paused,
        count(*) filter (where t.state = 'completed') as completed,
        count(*) filter (where t.state = 'stopped') as stopped,
        count(*) filter (where t.state = 'cancelled') as cancelled,
        count(*) filter (where t.state = 'failed') as failed
    from trial t group by t.job_id) c on c.job_id = j.id
where (j.trial_count, j.queued_count, j.running_count, j.paused_count, j.completed_count,
        j.stopped_count, j.cancelled_count, j.failed_count)
    is distinct from (c.n, c.queued, c.running, c.paused, c.completed, c.stopped, c.cancelled, c.failed)
    or j.state <> job_state(j.paused, c.queued, c.running, c.paused, c.completed, c.stopped, c.failed);

select 'held_follows_the_job' as rule, t.id::text as subject
from trial t join job j on j.id = t.job_id where t.held <> j.paused;

select 'blobs_are_whole' as rule, b.id::text as subject
from blob b
left join (select blob_id, sum(length(data)) as size from blob_chunk group by blob_id) c on c.blob_id = b.id
where b.sha256 is not null and b.size <> coalesce(c.size, 0);

select 'referenced_blobs_are_finished' as rule, b.id::text as subject
from blob b
where b.sha256 is null and (
    exists (select 1 from artefact a where a.blob_id = b.id)
    or exists (select 1 from checkpoint k where k.blob_id = b.id)
    or exists (select 1 from dataset d where d.prepared_blob_id = b.id)
    or exists (select 1 from dataset_file f where f.blob_id = b.id and f.complete)
    or exists (select 1 from prediction p where b.id in (p.input_blob_id, p.output_blob_id)));

select 'an_import_has_a_lease' as rule, d.id::text as subject from dataset d
where (d.worker_id is null) <> (d.lease_until is null) or (d.worker_id is not null and d.state <> 'checking');

select 'a_claimed_prediction_has_an_attempt' as rule, p.id::text as subject from prediction p
where p.worker_id is not null and (p.attempt < 1 or p.attempt > p.max_attempts or p.fence < p.attempt);

select 'events_are_not_ahead' as rule, e.id::text as subject
from event e join job j on j.id = e.job_id where e.revision > j.revision;
