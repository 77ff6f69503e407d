-- Counts changes of a project's variables, so that one whose totals were counted on a former state is noticed.
alter table projects add column variables_revision integer not null default 0;

-- The size of the value that is sealed; of those sealed before, about that.
alter table variables add column value_bytes integer;
update variables set value_bytes = octet_length(sealed_value) * 3 / 4;
alter table variables alter column value_bytes set not null;
