-- Deployments of before ran from folders, without a Dockerfile.
update deployments set record = jsonb_set(
  '{"image": null, "buildTag": null}' || record,
  '{plan}',
  '{"dockerfile": null, "buildTarget": null, "buildArgs": {}}' || (record -> 'plan')
);
