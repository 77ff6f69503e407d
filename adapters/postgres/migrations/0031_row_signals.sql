-- Changes of links to the cloud and of users are told on a channel of their own, by the id that they are looked up by,
-- also when somebody changes rows by hand. So processes can cache them.
create function slipway_row_changed() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    perform pg_notify(tg_argv[0], to_jsonb(old) ->> tg_argv[1]);
  end if;
  if tg_op <> 'DELETE' then
    perform pg_notify(tg_argv[0], to_jsonb(new) ->> tg_argv[1]);
  end if;
  return null;
end $$;

create function slipway_rows_emptied() returns trigger language plpgsql as $$
begin
  perform pg_notify(tg_argv[0], '*');
  return null;
end $$;

create trigger cloud_links_changed after insert or update or delete on cloud_links
  for each row execute function slipway_row_changed('slipway_cloud_links', 'organization_id');
create trigger cloud_links_emptied after truncate on cloud_links
  for each statement execute function slipway_rows_emptied('slipway_cloud_links');
create trigger users_changed after insert or update or delete on users
  for each row execute function slipway_row_changed('slipway_users', 'id');
create trigger users_row_emptied after truncate on users
  for each statement execute function slipway_rows_emptied('slipway_users');
