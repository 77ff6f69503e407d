create table backup_destinations (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  name text not null,
  name_key text collate "C" not null,
  kind text not null check (kind in ('s3_compatible', 'sftp', 'platform_server', 'local')),
  endpoint text,
  region text,
  bucket text,
  force_path_style boolean,
  path_prefix text,
  ssh_host text,
  ssh_port integer,
  ssh_user text,
  ssh_host_key text,
  server_id text collate "C" references servers on delete set null,
  sealed_access_key_id text,
  sealed_secret_access_key text,
  sealed_sftp_password text,
  sealed_sftp_private_key text,
  sealed_sftp_key_passphrase text,
  last_verified_at timestamptz,
  last_verify_error text,
  left_probes text[] not null default '{}',
  revision integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint backup_destinations_name unique (organization_id, name_key)
);
create index backup_destinations_newest on backup_destinations (organization_id, created_at desc, id desc);
create index backup_destinations_server on backup_destinations (server_id);

-- At most one default an organization, by its key: also when two become it at once.
create table default_backup_destinations (
  organization_id text collate "C" primary key references organizations on delete cascade,
  destination_id text collate "C" not null unique references backup_destinations on delete cascade
);
