-- What keeps a worker from its work, for those who look after it.

alter table worker add column trouble text not null default '';
comment on column worker.trouble is 'Why it prepares no attempts and claims none for a while; empty: it does. Of its last heartbeat.';
