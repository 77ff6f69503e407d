-- The target that each secret of a destination was given for (domain/backup/credential_target.ts); the secret is never
-- sent elsewhere.
alter table backup_destinations
  add column access_key_id_target text,
  add column secret_access_key_target text,
  add column sftp_password_target text,
  add column sftp_private_key_target text;

-- Existing secrets are bound to the present target. Stored addresses are normalized: the part before the path is the
-- origin.
update backup_destinations
set access_key_id_target = case when sealed_access_key_id is not null then target end,
  secret_access_key_target = case when sealed_secret_access_key is not null then target end,
  sftp_password_target = case when sealed_sftp_password is not null then target end,
  sftp_private_key_target = case when sealed_sftp_private_key is not null then target end
from (
  select id as target_of, case kind
    when 's3_compatible' then coalesce(substring(endpoint from '^https?://[^/]+'), 'Amazon S3')
    when 'sftp' then case when ssh_host like '%:%' then '[' || lower(ssh_host) || ']' else lower(ssh_host) end
      || ':' || coalesce(ssh_port, 22)
  end as target
  from backup_destinations
) as present
where id = target_of;
