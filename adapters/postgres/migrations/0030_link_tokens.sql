-- Whether a token links a self-hosted installation to the hosted cloud, and the member of that installation that a
-- change was made for.
alter table tokens add column link boolean not null default false;
alter table audit_log add column acting_for jsonb;
