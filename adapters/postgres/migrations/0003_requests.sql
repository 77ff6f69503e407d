create table attempts (
  key text collate "C" primary key,
  count integer not null,
  ends_at timestamptz not null
);
create index attempts_end on attempts (ends_at);

-- Without foreign keys: an entry outlives what it tells of.
create table audit_log (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  user_id text collate "C" not null,
  credential_kind text not null,
  credential_id text collate "C" not null,
  action text not null,
  target text collate "C",
  at timestamptz not null,
  caller_address text not null,
  request_id text not null,
  outcome text not null check (outcome in ('started', 'succeeded', 'refused', 'failed'))
);
create index audit_log_newest on audit_log (organization_id, at desc, id desc);
create index audit_log_user on audit_log (organization_id, user_id, at desc, id desc);
create index audit_log_target on audit_log (organization_id, target, at desc, id desc);

-- Answered once "status" is set; until then a claim that holds to "lease_until".
create table idempotent_answers (
  caller text collate "C" not null,
  key text collate "C" not null,
  claim_id text collate "C" not null constraint idempotent_answers_claim unique,
  route text not null,
  body text,
  at timestamptz not null,
  lease_until timestamptz not null,
  status integer,
  answer text,
  primary key (caller, key)
);
create index idempotent_answers_age on idempotent_answers (at);
