-- Every change that matters to an identity is told on the channel slipway_identity, by the id of its credential or
-- person, also when somebody changes rows by hand. Noting the use of a credential is no such change.
create function slipway_identity_changed() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    perform pg_notify('slipway_identity', to_jsonb(old) ->> tg_argv[0]);
  end if;
  if tg_op <> 'DELETE' then
    perform pg_notify('slipway_identity', to_jsonb(new) ->> tg_argv[0]);
  end if;
  return null;
end $$;

create function slipway_identities_emptied() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_identity', '*');
  return null;
end $$;

create trigger tokens_identity
  after update of id, organization_id, user_id, narrowing, fingerprint, expires_at, revoked_at or delete on tokens
  for each row execute function slipway_identity_changed('id');
create trigger sessions_identity after update of id, user_id, fingerprint, expires_at or delete on sessions
  for each row execute function slipway_identity_changed('id');
create trigger members_identity after insert or update or delete on members
  for each row execute function slipway_identity_changed('user_id');
create trigger users_identity after update of id, founder or delete on users
  for each row execute function slipway_identity_changed('id');

create trigger tokens_emptied after truncate on tokens
  for each statement execute function slipway_identities_emptied();
create trigger sessions_emptied after truncate on sessions
  for each statement execute function slipway_identities_emptied();
create trigger members_emptied after truncate on members
  for each statement execute function slipway_identities_emptied();
create trigger users_emptied after truncate on users
  for each statement execute function slipway_identities_emptied();
