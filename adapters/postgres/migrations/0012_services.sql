-- What deployments of several services consist of; sealed, as it holds the values of their variables.
create table deployment_compositions (
  deployment_id text collate "C" primary key references deployments on delete cascade,
  sealed_composition text not null
);

-- Deployments of before had one service, and nobody could decide about them. A site was served from where their plan says.
update deployments set record = jsonb_set(
  '{"asked": null, "replaces": null}' || record,
  '{services}',
  (
    select coalesce(jsonb_agg(service || jsonb_build_object('site', case
      when record #>> '{plan,projectType}' = 'static' then concat_ws('/',
        nullif(nullif(record #>> '{plan,rootDirectory}', ''), '.'),
        nullif(nullif(record #>> '{plan,outputDirectory}', ''), '.'))
    end)), '[]')
    from jsonb_array_elements(record -> 'services') as service
  )
);

-- As before; one in partial_failure is held until somebody decided about it, and is work then.
create or replace function slipway_take_deployment(taker text, moment timestamptz, until timestamptz, max_builds integer)
returns setof deployments language plpgsql as $$
declare
  picked text;
begin
  perform pg_advisory_xact_lock(7349128312);
  loop
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
      set lease_owner = taker, lease_until = until, attempts = attempts + 1, revision = revision + 1
      where id = picked and (lease_until is null or lease_until <= moment)
        and status in ('queued', 'building', 'deploying', 'partial_failure') and not held
      returning *;
    -- Otherwise it was changed in between: look again.
    exit when found;
  end loop;
end $$;
