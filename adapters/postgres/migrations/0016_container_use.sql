-- Whether anything was ever put into containers: until then no engine is asked for anything.
alter table installation add column uses_containers boolean not null default false;

insert into installation (id)
select replace(gen_random_uuid()::text, '-', '')
where exists (select from deployments where record -> 'plan' ->> 'runtime' = 'docker')
on conflict (only_one) do nothing;

update installation set uses_containers = true
where exists (select from deployments where record -> 'plan' ->> 'runtime' = 'docker');
