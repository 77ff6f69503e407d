-- Names of the fields, or keys of the variables, that a change sets or deletes.
alter table audit_log add column changed text[] not null default '{}';
