-- Several organizations may claim a host name: it belongs to the one that proves control of it first. So only verified
-- names are unique in the installation. A server of the former version cannot add names after this; it says so, and
-- changes nothing.
alter table domains drop constraint domains_hostname;
create unique index domains_hostname on domains (hostname) where verified_at is not null;
create unique index domains_claim on domains (organization_id, hostname);
create index domains_by_hostname on domains (hostname);
