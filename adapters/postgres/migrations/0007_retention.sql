-- What has had its time is looked for every minute.
create index audit_log_age on audit_log (at);
create index invitations_expiry on invitations (expires_at);
create index tokens_end on tokens (least(revoked_at, expires_at));
