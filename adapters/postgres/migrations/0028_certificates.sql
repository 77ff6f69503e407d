-- The certificates of custom host names. They go with their domain.
create table certificates (
  domain_id text collate "C" primary key references domains on delete cascade,
  chain text not null,
  sealed_key text not null,
  issuer text not null,
  not_before timestamptz not null,
  not_after timestamptz not null,
  fingerprint256 text not null
);

-- The order of the next certificate of each verified custom host name. "sealed_key", "url", "token" and "proof" are how
-- far it is; "claim" is the process that works on it until "claimed_until".
create table certificate_orders (
  domain_id text collate "C" primary key references domains on delete cascade,
  sealed_key text,
  url text,
  token text,
  proof text,
  attempts integer not null default 0,
  error text,
  due_at timestamptz not null,
  claim text,
  claimed_until timestamptz
);
create index certificate_orders_due on certificate_orders (due_at);
create index certificate_orders_proofs on certificate_orders (domain_id) where token is not null;

-- The accounts of this installation at certificate authorities.
create table authority_accounts (
  directory_url text collate "C" primary key,
  sealed_key text not null
);

-- Triggers, so that no verified name is without an order, and edges learn of every change, also of a killed process.
create function slipway_order_certificate() returns trigger language plpgsql as $$
begin
  insert into certificate_orders (domain_id, due_at) values (new.id, now()) on conflict do nothing;
  return null;
end $$;

create trigger domains_created_order after insert on domains for each row
  when (new.type = 'custom' and new.verified_at is not null)
  execute function slipway_order_certificate();
create trigger domains_verified_order after update of verified_at on domains for each row
  when (new.type = 'custom' and new.verified_at is not null)
  execute function slipway_order_certificate();

create function slipway_certificate_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_certificates', hostname) from domains where id = new.domain_id;
  return null;
end $$;

create trigger certificates_changed after insert or update of fingerprint256 on certificates for each row
  execute function slipway_certificate_changed();
create trigger certificate_orders_proven after update of token on certificate_orders for each row
  when (old.token is distinct from new.token)
  execute function slipway_certificate_changed();

create function slipway_domain_removed() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_certificates', old.hostname);
  return null;
end $$;

create trigger domains_removed_certificate after delete on domains for each row
  when (old.type = 'custom')
  execute function slipway_domain_removed();

create function slipway_certificate_due() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway_certificate_orders', '');
  return null;
end $$;

create trigger certificate_orders_created after insert on certificate_orders for each row
  execute function slipway_certificate_due();
create trigger certificate_orders_released after update of claim on certificate_orders for each row
  when (old.claim is not null and new.claim is null)
  execute function slipway_certificate_due();

insert into certificate_orders (domain_id, due_at)
select id, now() from domains where type = 'custom' and verified_at is not null;
