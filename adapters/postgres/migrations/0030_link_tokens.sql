-- Whether a token links a self-hosted installation to the hosted cloud, and the member of that installation that a
-- change was made for.
alter table tokens add column link boolean not null default false;
alter table audit_log add column acting_for jsonb;

-- Every project id with the organization that used it first. A linked installation chooses ids, and volumes outlive
-- their project: an id must never lead from one organization to what another has left.
create table project_ids (
  id text collate "C" primary key,
  organization_id text collate "C" not null
);
insert into project_ids (id, organization_id) select id, organization_id from projects;

create function slipway_claim_project_id() returns trigger language plpgsql as $$
begin
  insert into project_ids as known (id, organization_id) values (new.id, new.organization_id)
  on conflict (id) do update set organization_id = excluded.organization_id
    where known.organization_id = excluded.organization_id;
  if not found then
    raise exception 'another organization has used this project id'
      using errcode = 'unique_violation', constraint = 'projects_pkey';
  end if;
  return new;
end $$;

create trigger projects_id_claimed before insert on projects
  for each row execute function slipway_claim_project_id();
