-- What was chosen for a deployment alone counts when its build starts. Those that wait since an earlier version have it only in their own fields.
update deployments
set record = jsonb_set(
  record,
  '{own}',
  coalesce(nullif(record -> 'own', 'null'::jsonb), '{}'::jsonb)
    || case
      when record -> 'source' ->> 'kind' = 'git' and record ->> 'branch' is not null
      then jsonb_build_object('branch', record -> 'branch')
      else '{}'::jsonb
    end
    || case when record -> 'requireApproval' = 'true'::jsonb then '{"requireApproval": true}'::jsonb else '{}'::jsonb end
)
where status = 'queued'
  and (record -> 'source' ->> 'kind' = 'git' and record ->> 'branch' is not null or record -> 'requireApproval' = 'true'::jsonb);
