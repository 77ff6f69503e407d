-- The pull requests of projects that were reported. "due_at" is null while there is nothing new to comment on.
create table pull_requests (
  project_id text collate "C" not null constraint pull_requests_project references projects on delete cascade,
  number integer not null,
  organization_id text collate "C" not null,
  owner text not null,
  repo text not null,
  change text collate "C" not null,
  changed_at timestamptz not null,
  comment_id bigint,
  revision integer not null default 0,
  attempt integer not null default 0,
  failures integer not null default 0,
  due_at timestamptz,
  lease_until timestamptz,
  primary key (project_id, number)
);
create index pull_requests_due on pull_requests (due_at) where due_at is not null;

-- A trigger, so that no change of a preview can be stored without it.
create function slipway_enter_pull_request_report() returns trigger language plpgsql as $$
declare
  changed deployments := coalesce(new, old);
begin
  update pull_requests set revision = revision + 1, failures = 0, due_at = coalesce(due_at, now())
  where project_id = changed.project_id and number = (changed.record -> 'pullRequest' ->> 'number')::integer;
  if found then perform pg_notify('slipway_pull_requests', ''); end if;
  return null;
end $$;

create trigger deployments_created_comment after insert on deployments for each row
  when (new.record -> 'pullRequest' is not null)
  execute function slipway_enter_pull_request_report();

create trigger deployments_changed_comment after update of status, held, record on deployments for each row
  when (
    new.record -> 'pullRequest' is not null and (
      old.status <> new.status or old.held <> new.held
      or old.record ->> 'artifactAvailable' is distinct from new.record ->> 'artifactAvailable'
    )
  )
  execute function slipway_enter_pull_request_report();

create trigger deployments_removed_comment after delete on deployments for each row
  when (old.record -> 'pullRequest' is not null)
  execute function slipway_enter_pull_request_report();
