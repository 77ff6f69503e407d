-- How many uploads wait of a person and of an organization. One after the other until the statement ends: counting at once, none would see the others.
create function slipway_waiting_uploads(of_organization text, of_user text)
returns table (mine bigint, ours bigint) language plpgsql as $$
begin
  perform 1 from organizations, users
  where organizations.id = of_organization and users.id = of_user for no key update;
  return query
    select count(*) filter (where user_id = of_user), count(*) filter (where organization_id = of_organization)
    from upload_sessions
    where (user_id = of_user or organization_id = of_organization) and state <> 'used' and expires_at > now();
end
$$;
