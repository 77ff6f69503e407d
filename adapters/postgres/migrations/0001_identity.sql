create table organizations (
  id text collate "C" primary key,
  name text not null,
  slug text not null constraint organizations_slug unique,
  created_at timestamptz not null
);

create table users (
  id text collate "C" primary key,
  email text not null constraint users_email unique,
  name text not null,
  password_hash text,
  founder boolean not null default false,
  created_at timestamptz not null
);
create unique index users_founder on users (founder) where founder;

create table members (
  organization_id text collate "C" not null references organizations on delete cascade,
  user_id text collate "C" not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer', 'restricted')),
  grants jsonb not null default '[]',
  created_at timestamptz not null,
  joined bigint generated always as identity,
  primary key (organization_id, user_id)
);
create index members_newest on members (organization_id, created_at desc, user_id desc);
create index members_user on members (user_id, created_at, joined);

create table invitations (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'viewer', 'restricted')),
  grants jsonb not null default '[]',
  invited_by text collate "C" not null,
  fingerprint text collate "C" not null constraint invitations_fingerprint unique,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index invitations_newest on invitations (organization_id, created_at desc, id desc);

-- A revoked token stays, so that its text can never stand for anybody again.
create table tokens (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations on delete cascade,
  user_id text collate "C" not null references users on delete cascade,
  name text not null,
  narrowing jsonb,
  fingerprint text collate "C" not null constraint tokens_fingerprint unique,
  founder_token boolean not null default false,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  use_count bigint not null default 0
) with (fillfactor = 90);
create unique index tokens_founder on tokens (founder_token) where founder_token;
create index tokens_newest on tokens (organization_id, user_id, created_at desc, id desc) where revoked_at is null;
create index tokens_user on tokens (user_id);

create table sessions (
  id text collate "C" primary key,
  user_id text collate "C" not null references users on delete cascade,
  fingerprint text collate "C" not null constraint sessions_fingerprint unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz
) with (fillfactor = 90);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);

-- The last owner of an organization stays one, whatever changes the row and however many do at once: the lock on the
-- organization puts them in a row, and each then sees what the one before it left.
create function slipway_keep_last_owner() returns trigger language plpgsql as $$
begin
  if old.role = 'owner' and (tg_op = 'DELETE' or new.role <> 'owner' or new.organization_id <> old.organization_id) then
    perform 1 from organizations where id = old.organization_id for no key update;
    if found and not exists (
      select 1 from members
      where organization_id = old.organization_id and role = 'owner' and user_id <> old.user_id
    ) then
      raise exception 'the last owner of an organization stays one'
        using errcode = 'check_violation', constraint = 'members_last_owner';
    end if;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;

create trigger members_last_owner before update or delete on members
  for each row execute function slipway_keep_last_owner();
