-- What has to be reported to commits on the git host: the status of the newest deployment of each, by project and
-- environment. "due_at" is null while there is nothing to report.
create table commit_reports (
  project_id text collate "C" not null,
  environment text collate "C" not null,
  commit_sha text collate "C" not null,
  deployment_id text collate "C" not null references deployments on delete cascade,
  version integer not null,
  status text not null,
  attempt integer not null default 0,
  failures integer not null default 0,
  due_at timestamptz,
  lease_until timestamptz,
  primary key (project_id, environment, commit_sha)
);
create index commit_reports_deployment on commit_reports (deployment_id);
create index commit_reports_due on commit_reports (due_at) where due_at is not null;

-- A trigger, so that no change of a status can be stored without it.
create function slipway_enter_commit_report() returns trigger language plpgsql as $$
begin
  insert into commit_reports as known (project_id, environment, commit_sha, deployment_id, version, status, due_at)
  select new.project_id, new.environment, new.record ->> 'commitSha', new.id, new.version, new.status, now()
  from projects
  where id = new.project_id and location = 'local' and settings ->> 'gitAccess' = 'true'
    and settings ->> 'gitOwner' is not null
  on conflict (project_id, environment, commit_sha) do update
  set deployment_id = excluded.deployment_id, version = excluded.version, status = excluded.status, failures = 0,
    due_at = coalesce(known.due_at, excluded.due_at)
  where known.version <= excluded.version;
  if found then perform pg_notify('slipway_commit_reports', ''); end if;
  return null;
end $$;

create trigger deployments_created_report after insert on deployments for each row
  when (new.record ->> 'commitSha' is not null and new.record -> 'source' ->> 'kind' in ('git', 'artifact'))
  execute function slipway_enter_commit_report();

create trigger deployments_changed_report after update of status, record on deployments for each row
  when (
    (old.status <> new.status or old.record ->> 'commitSha' is distinct from new.record ->> 'commitSha')
    and new.record ->> 'commitSha' is not null and new.record -> 'source' ->> 'kind' in ('git', 'artifact')
  )
  execute function slipway_enter_commit_report();
