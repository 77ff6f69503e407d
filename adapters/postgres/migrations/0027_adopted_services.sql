-- The containers of a server that became services of a project, with what creates them again.
create table adopted_services (
  project_id text collate "C" not null references projects on delete cascade,
  service text collate "C" not null,
  sealed_service text not null,
  primary key (project_id, service)
);

-- Finds the servers that projects run on.
create index projects_server on projects (server_id) where location = 'server';
