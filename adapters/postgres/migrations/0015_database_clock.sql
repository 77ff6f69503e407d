-- Leases run by the clock of the database: those of the processes may differ.
drop function slipway_take_deployment(text, timestamptz, timestamptz, integer);

create function slipway_take_deployment(taker text, lease interval, max_builds integer)
returns setof deployments language plpgsql as $$
declare
  moment timestamptz;
  picked text;
begin
  perform pg_advisory_xact_lock(7349128312);
  loop
    -- Not the beginning of the transaction: whoever waited for the lock must not look at the past.
    moment := clock_timestamp();
    select id into picked from deployments
    where status in ('building', 'deploying', 'partial_failure') and not held
      and (lease_until is null or lease_until <= moment)
    order by queued_at, version, id limit 1;

    if picked is null and max_builds > (
      select count(*) from deployments
      where (status = 'building' and not held) or (status = 'queued' and lease_until > moment)
    ) then
      select id into picked from deployments as waiting
      where status = 'queued' and not held and (lease_until is null or lease_until <= moment)
        and not exists (
          select 1 from deployments as other
          where other.project_id = waiting.project_id and (other.status in ('building', 'deploying', 'partial_failure')
            or (other.status = 'queued' and other.lease_until > moment))
        )
      order by queued_at, version, id limit 1;
    end if;

    exit when picked is null;
    return query
      update deployments
      set lease_owner = taker, lease_until = moment + lease, attempts = attempts + 1, revision = revision + 1
      where id = picked and (lease_until is null or lease_until <= moment)
        and status in ('queued', 'building', 'deploying', 'partial_failure') and not held
      returning *;
    -- Otherwise it was changed in between: look again.
    exit when found;
  end loop;
end $$;
