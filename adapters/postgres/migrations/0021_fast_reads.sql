-- Whether it is its project's live release, so that a list need not look at each project.
alter table deployments add column active boolean not null default false;
update deployments set active = true from projects where projects.active_deployment_id = deployments.id;

create function slipway_mark_active() returns trigger language plpgsql as $$
begin
  update deployments set active = (id is not distinct from new.active_deployment_id)
  where id in (old.active_deployment_id, new.active_deployment_id)
    and active <> (id is not distinct from new.active_deployment_id);
  return null;
end $$;

create trigger projects_mark_active after update of active_deployment_id on projects for each row
  when (old.active_deployment_id is distinct from new.active_deployment_id)
  execute function slipway_mark_active();

-- What lists are filtered by, as columns, so that indexes on it stay as they are when the rest of a record changes.
alter table deployments
  add column environment text generated always as (coalesce(record ->> 'environment', 'production')) stored,
  add column branch text generated always as (record ->> 'branch') stored;
create index deployments_by_status on deployments (organization_id, status, created_at desc, id desc);
create index deployments_by_branch on deployments (organization_id, branch, created_at desc, id desc)
  where branch is not null;
create index deployments_previews on deployments (organization_id, created_at desc, id desc)
  where environment = 'preview';

-- Numbers of deployments by organization and by project, so that no list counts its rows. Each is the sum over a few
-- slots, so that connections seldom wait for each other.
create table deployment_counts (
  owner_id text collate "C" not null,
  environment text collate "C" not null,
  status text collate "C" not null,
  slot smallint not null,
  count bigint not null,
  primary key (owner_id, environment, status, slot)
) with (fillfactor = 50);

create table audit_counts (
  organization_id text collate "C" not null,
  slot smallint not null,
  count bigint not null,
  primary key (organization_id, slot)
) with (fillfactor = 50);

insert into deployment_counts (owner_id, environment, status, slot, count)
select owner_id, environment, status, 0, count(*)
from deployments cross join lateral (values (organization_id), (project_id)) as owners (owner_id)
group by owner_id, environment, status;

insert into audit_counts (organization_id, slot, count)
select organization_id, 0, count(*) from audit_log group by organization_id;

-- Rows are always locked in the order of their keys, so that two statements cannot deadlock.
create function slipway_count_deployments() returns trigger language plpgsql as $$
begin
  insert into deployment_counts (owner_id, environment, status, slot, count)
  select owner_id, environment, status, pg_backend_pid() % 4, case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed_rows cross join lateral (values (organization_id), (project_id)) as owners (owner_id)
  group by owner_id, environment, status
  order by owner_id, environment, status
  on conflict (owner_id, environment, status, slot) do update set count = deployment_counts.count + excluded.count;
  if tg_op = 'DELETE' then
    -- Those that were deleted with their project or organization.
    delete from deployment_counts
    where owner_id in (select organization_id from changed_rows union select project_id from changed_rows)
      and not exists (select 1 from projects where id = owner_id)
      and not exists (select 1 from organizations where id = owner_id);
  end if;
  return null;
end $$;

create trigger deployments_counted after insert on deployments
  referencing new table as changed_rows for each statement execute function slipway_count_deployments();
create trigger deployments_uncounted after delete on deployments
  referencing old table as changed_rows for each statement execute function slipway_count_deployments();

create function slipway_recount_deployment() returns trigger language plpgsql as $$
begin
  insert into deployment_counts (owner_id, environment, status, slot, count)
  select owner_id, environment, status, pg_backend_pid() % 4, change
  from (values (old.environment, old.status, -1), (new.environment, new.status, 1)) as moved (environment, status, change)
    cross join (values (new.organization_id), (new.project_id)) as owners (owner_id)
  order by owner_id, environment, status
  on conflict (owner_id, environment, status, slot) do update set count = deployment_counts.count + excluded.count;
  return null;
end $$;

create trigger deployments_recounted after update on deployments for each row
  when (old.status <> new.status or old.environment <> new.environment)
  execute function slipway_recount_deployment();

-- For one that had no deployments any more.
create function slipway_forget_counts() returns trigger language plpgsql as $$
begin
  delete from deployment_counts where owner_id = old.id;
  delete from audit_counts where organization_id = old.id;
  return null;
end $$;

create trigger projects_uncounted after delete on projects for each row execute function slipway_forget_counts();
create trigger organizations_uncounted after delete on organizations for each row execute function slipway_forget_counts();

create function slipway_count_audit() returns trigger language plpgsql as $$
begin
  insert into audit_counts (organization_id, slot, count)
  select organization_id, pg_backend_pid() % 4, case tg_op when 'INSERT' then count(*) else -count(*) end
  from changed_rows group by organization_id order by organization_id
  on conflict (organization_id, slot) do update set count = audit_counts.count + excluded.count;
  if tg_op = 'DELETE' then
    delete from audit_counts
    where organization_id in (select organization_id from changed_rows)
      and not exists (select 1 from organizations where id = audit_counts.organization_id);
  end if;
  return null;
end $$;

create trigger audit_counted after insert on audit_log
  referencing new table as changed_rows for each statement execute function slipway_count_audit();
create trigger audit_uncounted after delete on audit_log
  referencing old table as changed_rows for each statement execute function slipway_count_audit();
