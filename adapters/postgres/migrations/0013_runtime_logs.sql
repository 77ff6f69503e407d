-- What services of releases printed, kept when their instances are gone.
create table runtime_logs (
  deployment_id text collate "C" not null references deployments on delete cascade,
  service text collate "C" not null,
  last_seq bigint not null,
  -- The instance that printed what comes after number "after_seq"; null when that is final.
  ends_with text collate "C",
  after_seq bigint not null,
  -- What was left out up to "after_seq", and after it: lines, bytes, number and time of the last.
  left_out jsonb,
  own_left_out jsonb,
  -- Counts changes, so that one that was worked out on a former state is noticed.
  revision integer not null,
  primary key (deployment_id, service)
);

-- Lines lie together in chunks, as a JSON list a row, as events do. "seq" is the number of the last line of the chunk.
-- The revision that stored a chunk tells it from the one that it takes the place of in the same statement.
create table runtime_log_chunks (
  deployment_id text collate "C" not null,
  service text collate "C" not null,
  seq bigint not null,
  revision integer not null,
  last_at timestamptz not null,
  line_count integer not null,
  bytes integer not null,
  lines text not null,
  primary key (deployment_id, service, seq, revision),
  foreign key (deployment_id, service) references runtime_logs on delete cascade
);
