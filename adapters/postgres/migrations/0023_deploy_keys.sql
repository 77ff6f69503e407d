create table deploy_keys (
  project_id text collate "C" primary key constraint deploy_keys_project references projects on delete cascade,
  public_key text not null,
  fingerprint text not null,
  sealed_private_key text not null,
  created_at timestamptz not null
);

create table pinned_host_keys (
  project_id text collate "C" not null constraint pinned_host_keys_deploy_key references deploy_keys on delete cascade,
  host text collate "C" not null,
  key text not null,
  fingerprint text not null,
  pinned_at timestamptz not null,
  primary key (project_id, host)
);
