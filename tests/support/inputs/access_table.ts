/**
 * The status that every route returns to every kind of caller, for an otherwise valid request. `foreign` is an owner of
 * another organization who uses this one's ids; `narrowed` is an owner's token limited to `project:read`. The callers
 * send their requests one after the other: a prompt that the developer has answered is no longer open for the owner.
 */
export const CALLERS = ["anonymous", "foreign", "viewer", "developer", "narrowed", "owner"] as const;

const TABLE = `
GET    /api/health                            200 200 200 200 200 200
GET    /api/health/env                        200 200 200 200 200 200
GET    /api/openapi.json                      200 200 200 200 200 200
GET    /api/docs                              200 200 200 200 200 200
GET    /metrics                               401 200 200 200 403 200
POST   /api/auth/login                        401 401 401 401 401 401
POST   /api/auth/logout                       401 400 400 400 400 400
GET    /api/auth/accept-invitation            200 200 200 200 200 200
POST   /api/auth/accept-invitation            400 400 400 400 400 400
GET    /api/auth/me                           401 200 200 200 200 200
PATCH  /api/auth/me                           401 200 200 200 403 200
POST   /api/auth/password                     401 200 200 200 403 200
GET    /api/tokens                            401 200 200 200 200 200
POST   /api/tokens                            401 201 201 201 403 201
DELETE /api/tokens/:id                        401 404 404 404 403 200
GET    /api/organizations                     401 200 200 200 200 200
POST   /api/organizations                     401 403 403 403 403 201
GET    /api/members                           401 200 200 200 403 200
GET    /api/members/invitations               401 200 200 200 403 200
POST   /api/members                           401 201 403 403 403 201
PATCH  /api/members/:id                       401 404 403 403 403 200
DELETE /api/members/:id                       401 404 403 403 403 200
GET    /api/audit                             401 200 200 200 403 200
GET    /api/projects                          401 200 200 200 200 200
POST   /api/projects                          401 201 403 201 403 201
POST   /api/projects/ensure                   401 200 403 200 403 200
GET    /api/projects/:id                      401 404 200 200 200 200
PATCH  /api/projects/:id                      401 404 403 200 403 200
DELETE /api/projects/:id                      401 404 403 403 403 200
GET    /api/projects/:id/volumes              401 404 200 200 200 200
POST   /api/projects/:id/git/link             401 404 403 200 403 200
POST   /api/projects/:id/auto-deploy          401 404 403 200 403 200
POST   /api/projects/:id/previews             401 404 403 200 403 200
GET    /api/projects/:id/env                  401 404 200 200 200 200
PATCH  /api/projects/:id/env                  401 404 403 200 403 200
GET    /api/projects/:id/deploy-key           401 404 200 200 200 200
POST   /api/projects/:id/deploy-key           401 404 403 201 403 201
DELETE /api/projects/:id/deploy-key           401 404 403 403 403 200
DELETE /api/projects/:id/deploy-key/host-keys/:host 401 404 403 403 403 200
POST   /api/projects/folder/session           401 200 403 200 403 200
POST   /api/projects/folder/upload/:sessionId 401 404 403 404 403 200
POST   /api/projects/folder/scan/:sessionId   401 404 403 404 403 200
GET    /api/projects/folder/sessions          401 200 200 200 200 200
DELETE /api/projects/folder/sessions/:id      401 404 403 404 403 200
GET    /api/domains                           401 200 200 200 200 200
POST   /api/domains                           401 404 403 201 403 201
POST   /api/domains/:id/verify                401 404 403 200 403 200
DELETE /api/domains/:id                       401 404 403 403 403 200
GET    /api/servers                           401 200 200 200 403 200
POST   /api/servers                           401 201 403 403 403 201
GET    /api/servers/:id                       401 404 200 200 403 200
PATCH  /api/servers/:id                       401 404 403 403 403 200
DELETE /api/servers/:id                       401 404 403 403 403 200
POST   /api/servers/:id/check                 401 404 403 403 403 200
POST   /api/migration/scan                    401 404 403 403 403 200
POST   /api/migration/adopt                   401 404 403 403 403 200
GET    /api/backup-destinations               401 200 200 200 403 200
POST   /api/backup-destinations               401 201 403 403 403 201
POST   /api/backup-destinations/preflight     401 200 403 403 403 200
GET    /api/backup-destinations/:id           401 404 200 200 403 200
PATCH  /api/backup-destinations/:id           401 404 403 403 403 200
DELETE /api/backup-destinations/:id           401 404 403 403 403 200
POST   /api/backup-destinations/:id/preflight 401 404 403 403 403 200
GET    /api/githost/status                    401 200 200 200 403 200
GET    /api/githost/home                      401 200 200 200 403 200
GET    /api/githost/local-status              401 200 200 200 403 200
POST   /api/githost/connect                   401 400 403 200 403 200
GET    /api/githost/connect/poll              401 200 200 200 403 200
GET    /api/githost/connect/redirect          400 400 400 400 400 400
POST   /api/githost/connect/redirect          400 400 400 400 400 400
GET    /api/githost/repos                     401 400 200 200 403 200
POST   /api/githost/repos                     401 400 403 201 403 201
GET    /api/githost/orgs/:org/repos           401 400 200 200 403 200
GET    /api/githost/repos/:owner/:repo        401 400 200 200 403 200
DELETE /api/githost/repos/:owner/:repo        401 400 403 403 403 200
GET    /api/githost/repos/:owner/:repo/branches 401 400 200 200 403 200
GET    /api/githost/repos/:owner/:repo/clone-token 401 409 200 200 403 200
GET    /api/githost/repos/:owner/:repo/files  401 400 200 200 403 200
GET    /api/githost/repos/:owner/:repo/file   401 400 200 200 403 200
GET    /api/githost/repos/:owner/:repo/webhooks 401 400 200 200 403 200
POST   /api/githost/repos/:owner/:repo/webhooks 401 400 403 200 403 200
DELETE /api/githost/repos/:owner/:repo/webhooks 401 400 403 403 403 200
POST   /api/githost/webhook                   401 401 401 401 401 401
POST   /api/githost/disconnect                401 200 403 403 403 200
GET    /api/cloud/link                        401 404 403 403 403 200
PUT    /api/cloud/link                        401 200 403 403 403 200
DELETE /api/cloud/link                        401 404 403 403 403 200
GET    /api/projects/:id/webhook-deliveries   401 404 200 200 200 200
GET    /api/deployments                       401 200 200 200 403 200
POST   /api/deployments                       401 404 403 202 403 202
POST   /api/deployments/prepare               401 200 403 200 403 200
POST   /api/deployments/ssl/status            401 200 200 200 403 200
POST   /api/deployments/build/access          401 404 403 200 403 200
GET    /api/deployments/:id                   401 404 200 200 403 200
GET    /api/deployments/:id/logs              401 404 200 200 403 200
GET    /api/deployments/:id/stream            401 404 200 200 403 200
GET    /api/deployments/:id/build             401 404 200 200 403 200
POST   /api/deployments/:id/build             401 404 403 202 403 202
POST   /api/deployments/:id/build/respond     401 404 403 200 403 400
POST   /api/deployments/:id/redeploy          401 404 403 202 403 202
POST   /api/deployments/:id/rollback          401 404 403 403 403 202
POST   /api/deployments/ssl/renew             401 404 403 200 403 200
POST   /api/deployments/:id/promote           401 404 403 403 403 202
POST   /api/deployments/:id/pin               401 404 403 200 403 200
POST   /api/deployments/:id/keep              401 404 403 400 403 400
POST   /api/deployments/:id/reject            401 404 403 400 403 400
POST   /api/deployments/:id/cancel            401 404 403 403 403 200
POST   /api/deployments/:id/restart           401 404 403 200 403 200
GET    /api/deployments/:id/info              401 404 200 200 403 200
GET    /api/deployments/:id/usage             401 404 200 200 403 200
DELETE /api/deployments/:id                   401 404 403 403 403 200
`;

/** One row per route: the status that it returns to each caller. */
export const ACCESS_TABLE = TABLE.trim()
  .split("\n")
  .map((line) => {
    const [method = "", path = "", ...statuses] = line.trim().split(/\s+/);
    return { route: `${method} ${path}`, method, path, statuses: statuses.map(Number) };
  });
