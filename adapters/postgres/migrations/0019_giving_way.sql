-- Makes room for one more upload session of a person and tells how many wait afterwards. The oldest of that person give way, those of
-- this organization first and never one that is being received; where that is not enough, none does.
create function slipway_make_room_for_upload(
  of_organization text, of_user text, per_user bigint, per_organization bigint
)
returns table (mine bigint, ours bigint, displaced text[]) language plpgsql as $$
declare
  too_many bigint;
  found_here bigint;
begin
  select waiting.mine, waiting.ours into mine, ours from slipway_waiting_uploads(of_organization, of_user) as waiting;
  too_many := greatest(mine - per_user + 1, ours - per_organization + 1, 0);
  -- One that is locked is about to be received, deployed or discarded.
  select coalesce(array_agg(oldest.id), '{}'), count(*) filter (where oldest.here) into displaced, found_here from (
    select id, organization_id = of_organization as here from upload_sessions
    where user_id = of_user and state <> 'used' and expires_at > now()
      and (state <> 'receiving' or lease_until is null or lease_until <= now())
    order by here desc, created_at, id limit too_many for update skip locked
  ) as oldest;
  if cardinality(displaced) < too_many or ours - found_here >= per_organization then
    displaced := '{}';
  else
    delete from upload_sessions where id = any (displaced);
    mine := mine - too_many;
    ours := ours - found_here;
  end if;
  return next;
end
$$;

-- Of several invitations for one address in an organization the newest stays: it replaced the others.
delete from invitations as former using invitations as newer
where newer.organization_id = former.organization_id and newer.email = former.email
  and (newer.created_at, newer.id) > (former.created_at, former.id);
alter table invitations add constraint invitations_address unique (organization_id, email);
