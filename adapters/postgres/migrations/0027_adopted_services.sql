-- The containers of a server that became services of a project, with what creates them again.
create table adopted_services (
  project_id text collate "C" not null references projects on delete cascade,
  service text collate "C" not null,
  server_id text collate "C" not null,
  container_id text collate "C" not null,
  sealed_service text not null,
  primary key (project_id, service),
  constraint adopted_services_container unique (server_id, container_id)
);

-- Whether something was ever put into containers on a server: it is looked after until it is deleted.
alter table servers add column has_containers boolean not null default false;
create index servers_has_containers on servers (id) where has_containers;
