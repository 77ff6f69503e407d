-- An installation of the git host's app belongs to one organization, and stays when the user who connected it leaves.
create table githost_installations (
  id bigint primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  account_login text not null,
  account_id bigint not null,
  account_type text not null check (account_type in ('User', 'Organization')),
  account_avatar_url text,
  suspended boolean not null,
  connected_by text collate "C" not null,
  connected_at timestamptz not null
);
create index githost_installations_oldest on githost_installations (organization_id, connected_at, id);

-- What a member connected goes with the membership.
create table oauth_accounts (
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  login text not null,
  sealed_token text not null,
  sealed_refresh_token text,
  expires_at timestamptz,
  connected_at timestamptz not null,
  primary key (organization_id, user_id),
  foreign key (organization_id, user_id) references members on delete cascade
);

create table connect_attempts (
  state_hash text collate "C" primary key,
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  installation_id bigint,
  started_at timestamptz not null,
  expires_at timestamptz not null,
  foreign key (organization_id, user_id) references members on delete cascade
);
create index connect_attempts_member on connect_attempts (organization_id, user_id);
create index connect_attempts_expiry on connect_attempts (expires_at);

create table device_attempts (
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  sealed_device_code text not null,
  user_code text not null,
  verification_uri text not null,
  interval_seconds integer not null,
  next_check_at timestamptz not null,
  expires_at timestamptz not null,
  status text not null check (status in ('pending', 'complete', 'denied', 'expired')),
  primary key (organization_id, user_id),
  foreign key (organization_id, user_id) references members on delete cascade
);
create index device_attempts_due on device_attempts (next_check_at) where status = 'pending';
create index device_attempts_expiry on device_attempts (expires_at);

-- The keys are the names as they are compared, written by the service: lower() depends on the locale of the database.
create table repository_hooks (
  organization_id text collate "C" not null references organizations on delete cascade,
  owner_key text collate "C" not null,
  repo_key text collate "C" not null,
  owner text not null,
  repo text not null,
  hook_id bigint not null,
  sealed_secret text not null,
  created_at timestamptz not null,
  primary key (organization_id, owner_key, repo_key)
);
create index repository_hooks_name on repository_hooks (owner_key, repo_key);

create table githost_choices (
  organization_id text collate "C" primary key references organizations on delete cascade,
  command_line_off boolean not null
);

-- Carried out once "finished_at" is set; until then a claim that began at "claimed_at".
create table webhook_deliveries (
  delivery_id text collate "C" primary key,
  event text not null,
  action text,
  repository text,
  received_at timestamptz not null,
  claimed_at timestamptz not null,
  finished_at timestamptz
);
create index webhook_deliveries_age on webhook_deliveries (received_at);

create table webhook_decisions (
  delivery_id text collate "C" not null references webhook_deliveries on delete cascade,
  ordinal integer not null,
  project_id text collate "C" references projects on delete cascade,
  organization_id text collate "C" not null references organizations on delete cascade,
  decision text not null check (decision in ('deployed', 'ignored', 'superseded', 'applied', 'failed')),
  reason text not null,
  -- Without a foreign key: a decision outlives the deployment that it led to.
  deployment_id text collate "C",
  branch text,
  commit_sha text,
  -- That of the delivery, so that an index can order the decisions about a project.
  received_at timestamptz not null,
  primary key (delivery_id, ordinal)
);
create index webhook_decisions_newest on webhook_decisions (project_id, received_at desc, delivery_id desc, ordinal desc);
create index webhook_decisions_organization on webhook_decisions (organization_id);

-- Names on a git host are ASCII, so lower() is the same in every locale.
create index projects_repository on projects (lower(settings->>'gitOwner'), lower(settings->>'gitRepo'))
  where settings->>'gitOwner' is not null;
