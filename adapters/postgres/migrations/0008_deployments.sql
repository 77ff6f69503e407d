-- Counts the deployments a project ever had, so that versions have no gaps and none comes back after a deletion.
alter table projects add column last_version integer not null default 0;

create table deployments (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  version integer not null,
  status text not null check (status in ('queued', 'building', 'deploying', 'ready', 'failed', 'cancelled',
    'partial_failure', 'rejected', 'superseded')),
  held boolean not null,
  cancel_requested boolean not null,
  -- Until when the question it waits with can be answered.
  answer_due timestamptz,
  attempts integer not null,
  lease_owner text,
  lease_until timestamptz,
  created_at timestamptz not null,
  queued_at timestamptz not null,
  last_seq bigint not null,
  record jsonb not null,
  -- Counts changes, so that one that was worked out on a former state is noticed.
  revision integer not null default 1,
  constraint deployments_version unique (project_id, version)
) with (fillfactor = 70);
create index deployments_newest on deployments (organization_id, created_at desc, id desc);
create index deployments_of_project on deployments (project_id, created_at desc, id desc);
create index deployments_queued on deployments (queued_at, id) where status = 'queued';
create index deployments_held on deployments (queued_at) where held;
create unique index deployments_one_at_a_time on deployments (project_id)
  where status in ('building', 'deploying', 'partial_failure');

-- Events lie together in chunks, as a JSON list a row: a build may print a hundred thousand lines a second, and a million
-- of them must be gone in a moment. "seq" is the number of the last event of the chunk, "first_seq" that of its first.
create table deployment_events (
  deployment_id text collate "C" not null references deployments on delete cascade,
  seq bigint not null,
  first_seq bigint not null,
  -- The services that have log lines in the chunk; null when it holds none.
  log_services jsonb,
  events text not null,
  primary key (deployment_id, seq)
);

-- Tells those who follow that no more events come, whatever removed the row.
create function slipway_deployment_removed() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_events', old.id || ' 0');
  return null;
end $$;

create trigger deployments_removed after delete on deployments
  for each row execute function slipway_deployment_removed();

create table deployment_environments (
  deployment_id text collate "C" primary key references deployments on delete cascade,
  sealed_values text not null
);

-- Takes the next deployment to work on. Who takes waits for the one before: each statement of a function sees what was
-- committed when it began, so that what another process took a moment ago counts.
create function slipway_take_deployment(taker text, moment timestamptz, until timestamptz, max_builds integer)
returns setof deployments language plpgsql as $$
declare
  picked text;
begin
  perform pg_advisory_xact_lock(7349128312);
  loop
    select id into picked from deployments
    where status in ('building', 'deploying') and not held and (lease_until is null or lease_until <= moment)
    order by queued_at, version, id limit 1;

    if picked is null and max_builds > (
      select count(*) from deployments
      where (status = 'building' and not held) or (status = 'queued' and lease_until > moment)
    ) then
      select id into picked from deployments as waiting
      where status = 'queued' and not held and (lease_until is null or lease_until <= moment)
        and not exists (
          select 1 from deployments as other
          where other.project_id = waiting.project_id and (other.status in ('building', 'deploying', 'partial_failure')
            or (other.status = 'queued' and other.lease_until > moment))
        )
      order by queued_at, version, id limit 1;
    end if;

    exit when picked is null;
    return query
      update deployments
      set lease_owner = taker, lease_until = until, attempts = attempts + 1, revision = revision + 1
      where id = picked and (lease_until is null or lease_until <= moment)
        and status in ('queued', 'building', 'deploying') and not held
      returning *;
    -- Otherwise it was changed in between: look again.
    exit when found;
  end loop;
end $$;

-- Tells edges that what a project serves, or where, may have changed, whoever changed it.
create function slipway_live_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_live', case when tg_op = 'DELETE' then old.project_id else new.project_id end);
  return null;
end $$;

create trigger domains_live after insert or delete or update of verified_at, project_id on domains
  for each row execute function slipway_live_changed();

create function slipway_project_live_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_live', old.id);
  return null;
end $$;

create trigger projects_live after delete or update of active_deployment_id on projects
  for each row execute function slipway_project_live_changed();
