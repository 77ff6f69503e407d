create table projects (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  slug text not null,
  hostname text not null constraint projects_hostname unique,
  settings jsonb not null,
  location text not null check (location in ('local', 'server', 'cloud')),
  server_id text collate "C",
  active_deployment_id text collate "C",
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Lower-case name and slug, one a line, written by the service: lower() depends on the locale of the database.
  search_text text not null,
  -- Counts changes, so that one that was worked out on a former state is noticed.
  revision integer not null default 1,
  constraint projects_slug unique (organization_id, slug)
);
create index projects_newest on projects (organization_id, created_at desc, id desc);

create table domains (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  project_id text collate "C" not null references projects on delete cascade,
  hostname text not null constraint domains_hostname unique,
  type text not null check (type in ('free', 'custom')),
  proof text not null,
  verified_at timestamptz,
  created_at timestamptz not null
);
create index domains_newest on domains (organization_id, created_at desc, id desc);
create index domains_project on domains (project_id);

create table variables (
  project_id text collate "C" not null constraint variables_project references projects on delete cascade,
  key text collate "C" not null,
  sealed_value text not null,
  secret boolean not null,
  updated_at timestamptz not null,
  primary key (project_id, key)
);

create table servers (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  -- The name as it is compared, written by the service: lower() depends on the locale of the database.
  name_key text not null,
  ssh_host text not null,
  ssh_port integer not null,
  ssh_user text not null,
  host_key text,
  sealed_password text,
  sealed_private_key text,
  sealed_key_passphrase text,
  last_checked_at timestamptz,
  last_check_error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint servers_name unique (organization_id, name_key)
);
create index servers_newest on servers (organization_id, created_at desc, id desc);

create table upload_sessions (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  user_id text collate "C" not null references users on delete cascade,
  name text,
  mode text not null check (mode in ('local', 'cloud')),
  state text not null check (state in ('open', 'receiving', 'ready', 'used')),
  bytes bigint,
  sha256 text,
  files bigint,
  lease_until timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index upload_sessions_organization on upload_sessions (organization_id);
create index upload_sessions_user on upload_sessions (user_id);
create index upload_sessions_expiry on upload_sessions (expires_at) where state <> 'used';

create table cloud_links (
  organization_id text collate "C" primary key references organizations on delete cascade,
  url text not null,
  sealed_token text not null,
  updated_at timestamptz not null
);

-- The keys that secrets in this database are sealed with; "ordinal" lets one of several new keys in at a time.
create table vault_keys (
  key_id text collate "C" primary key,
  ordinal integer not null constraint vault_keys_ordinal unique,
  check_value text not null,
  created_at timestamptz not null
);
