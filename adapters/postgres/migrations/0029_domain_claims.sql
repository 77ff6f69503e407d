-- Several organizations may claim a host name: it belongs to the one that proves control of it first. So only verified
-- names are unique in the installation. A server of the former version cannot add names after this; it says so, and
-- changes nothing.
alter table domains drop constraint domains_hostname;
create unique index domains_hostname on domains (hostname) where verified_at is not null;
create unique index domains_claim on domains (organization_id, hostname);
create index domains_by_hostname on domains (hostname);

-- Edges answer for names that wait for their verification, so they learn of each one that comes or goes.
create function slipway_domain_claimed() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_certificates', new.hostname);
  return null;
end $$;

create trigger domains_claimed after insert on domains for each row
  when (new.type = 'custom' and new.verified_at is null)
  execute function slipway_domain_claimed();
create trigger domains_proven after update of verified_at on domains for each row
  when (new.type = 'custom')
  execute function slipway_domain_claimed();
