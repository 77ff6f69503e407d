-- Each list of deployments asks for the projects with a copy in the cloud, of which most organizations have none.
create index projects_in_cloud on projects (organization_id, created_at desc, id desc)
  where settings @> '{"inCloud": true}';
