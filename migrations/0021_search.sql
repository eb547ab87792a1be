-- Trials whose points a search chooses when others have ended.

alter table trial
    add column chosen boolean not null default true,
    add constraint trial_chosen_check check (chosen or state in ('queued', 'cancelled', 'failed'));
comment on column trial.chosen is 'False: the search has not chosen its point (parameters hold nulls, resolved is empty), or the point it chose cannot be tried (failed, with that point): not to be claimed.';

-- trials_claim: the queue in its order.
drop index trial_queue;
create index trial_queue on trial (priority desc, number) where state = 'queued' and not held and chosen;
-- searches_ready: jobs whose search may go on.
create index trial_open on trial (job_id, idx) where state = 'queued' and not held and not chosen;
