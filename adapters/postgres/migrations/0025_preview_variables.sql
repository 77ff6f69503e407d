-- The variables of a project's previews; those in "variables" are for production only. A table of its own, because a
-- sealed value is bound to its table. Changes of both count in the project's "variables_revision".
create table preview_variables (
  project_id text collate "C" not null constraint preview_variables_project references projects on delete cascade,
  key text collate "C" not null,
  sealed_value text not null,
  value_bytes integer not null,
  secret boolean not null,
  updated_at timestamptz not null,
  primary key (project_id, key)
);
