-- Networks without a name stand as such among the weights of a job, so that one that is named
-- "layers" is another; and what is stopped passes a held queue.

alter table job_weights drop constraint job_weights_network_check;
alter table job_weights add constraint job_weights_network_check check (length(network) <= 200);
comment on column job_weights.network is 'Name of the network in the job; empty for layers without one ("layers" in rows before this migration).';
comment on column trial.held is 'The job is paused: not to be claimed. Set for every trial of the job whatever its state, but one that is being stopped: that goes on to its evaluation.';
