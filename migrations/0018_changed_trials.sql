-- Which trials of a job have changed since a revision: read from the outbox.

-- trials, results (changed_since): the events of one job after a revision.
create index event_of_job on event (job_id, revision) include (trial_id) where job_id is not null;
