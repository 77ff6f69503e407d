import { Failure } from "../failure.ts";

export const RESOURCES = [
  "deployment",
  "backup_destination",
  "githost",
  "server",
  "project",
  "member",
  "organization",
] as const;
export const ACTIONS = ["list", "read", "write", "admin"] as const;
export const ROLES = ["owner", "admin", "developer", "viewer", "restricted"] as const;

export type Resource = (typeof RESOURCES)[number];
export type Action = (typeof ACTIONS)[number];
export type Role = (typeof ROLES)[number];
export type Permission = `${Resource}:${Action}`;

/** Allows `action` (and all that it includes) on one resource, or on all of its kind with `*`. */
export interface Grant {
  readonly resource: Resource;
  readonly id: string;
  readonly action: Action;
}

/** The maximum that a credential may do; it never adds to the permissions of its owner. */
export interface Narrowing {
  readonly permissions: readonly Permission[];
  readonly grants: readonly Grant[];
}

/** The credential that a caller presented. */
export interface CallerCredential {
  readonly kind: "token" | "session";
  readonly id: string;
  /** Whether it is a link token: a self-hosted installation sends it, for its members. */
  readonly link?: boolean;
}

/** A member of a linked installation, as that installation names it. */
export interface ActingFor {
  readonly id: string;
  readonly email: string;
}

/** An authenticated caller, acting in one organization. */
export interface Principal {
  readonly userId: string;
  readonly organizationId: string;
  readonly role: Role;
  readonly grants: readonly Grant[];
  /** The first owner of the installation, who may create organizations. */
  readonly founder: boolean;
  readonly credential: CallerCredential;
  readonly narrowing: Narrowing | null;
  /** The member of a linked installation that the request is made for; its rights are the narrowing. */
  readonly actingFor?: ActingFor;
  /** When the credential expires; a token minted with it expires no later. */
  readonly expiresAt: Date | null;
}

/** The resource that a permission is checked for; a deployment also has its project. */
export interface Target {
  readonly id: string;
  readonly projectId?: string;
}

type Levels = Readonly<Record<Resource, Action | "none">>;

const ALL_ADMIN: Levels = {
  deployment: "admin",
  backup_destination: "admin",
  githost: "admin",
  server: "admin",
  project: "admin",
  member: "admin",
  organization: "admin",
};

const ROLE_LEVELS: Readonly<Record<Role, Levels>> = {
  owner: ALL_ADMIN,
  admin: { ...ALL_ADMIN, organization: "read" },
  developer: {
    deployment: "write",
    backup_destination: "read",
    githost: "write",
    server: "read",
    project: "write",
    member: "read",
    organization: "read",
  },
  viewer: {
    deployment: "read",
    backup_destination: "read",
    githost: "read",
    server: "read",
    project: "read",
    member: "read",
    organization: "read",
  },
  restricted: {
    deployment: "none",
    backup_destination: "none",
    githost: "none",
    server: "none",
    project: "none",
    member: "none",
    organization: "none",
  },
};

/**
 * The most that a link token may do, whoever made it: run the projects of a linked installation, and connect their git
 * host. The organization itself stays out of reach of that installation: members, tokens, servers, backups.
 */
const LINK_LEVELS: Levels = {
  deployment: "admin",
  backup_destination: "none",
  githost: "write",
  server: "none",
  project: "admin",
  member: "none",
  organization: "none",
};

const RANK: Readonly<Record<Action | "none", number>> = { none: 0, list: 1, read: 2, write: 3, admin: 4 };

/** Returns whether a principal has a permission on one target or, without a target, on every resource of its kind. */
export function allows(principal: Principal, permission: Permission, target?: Target): boolean {
  const { resource, rank } = split(permission);
  if (heldRank(principal, resource, grantRank(principal.grants, resource, target)) < rank) return false;
  const { narrowing } = principal;
  if (!narrowing) return true;
  return Math.max(listedRank(narrowing.permissions, resource), grantRank(narrowing.grants, resource, target)) >= rank;
}

/** Returns whether a principal may have a permission on any resource; the route check, before a target is known. */
export function allowsSomewhere(principal: Principal, permission: Permission): boolean {
  const { resource, rank } = split(permission);
  if (heldRank(principal, resource, anyGrantRank(principal.grants, resource)) < rank) return false;
  const { narrowing } = principal;
  if (!narrowing) return true;
  return Math.max(listedRank(narrowing.permissions, resource), anyGrantRank(narrowing.grants, resource)) >= rank;
}

/** Throws `forbidden`, naming the permission, unless the principal has it. */
export function demand(principal: Principal, permission: Permission, target?: Target): void {
  if (!allows(principal, permission, target)) throw forbidden(permission);
}

/** Returns the ids that a principal may see in a list: all of the organization, or only those named by its grants. */
export function visibleIds(principal: Principal, permission: Permission): "all" | readonly string[] {
  if (allows(principal, permission)) return "all";
  const { resource } = split(permission);
  const named = [...principal.grants, ...(principal.narrowing?.grants ?? [])]
    .filter((grant) => grant.resource === resource && grant.id !== "*")
    .map(({ id }) => id);
  return [...new Set(named)].filter((id) => allows(principal, permission, { id }));
}

/** Returns whether the principal itself has every permission of a role with these grants. */
export function covers(principal: Principal, role: Role, grants: readonly Grant[]): boolean {
  const levels = ROLE_LEVELS[role];
  const wholeRole = RESOURCES.every((resource) => {
    const action = levels[resource];
    return action === "none" || allows(principal, `${resource}:${action}`);
  });
  return wholeRole && grants.every((grant) => coversGrant(principal, grant));
}

/** Returns whether the principal itself may do what a grant would allow. */
export function coversGrant(principal: Principal, { resource, id, action }: Grant): boolean {
  if (!allows(principal, `${resource}:${action}`, id === "*" ? undefined : { id })) return false;
  // A grant on a project also covers its deployments, including future ones.
  return resource !== "project" || allows(principal, `deployment:${action}`, anyDeploymentOf(id));
}

/** Throws `link_token` for a link token where linked installations have nothing to do, whatever its owner may. */
export function refuseLink({ credential }: Principal, permission: Permission | "self"): void {
  if (!credential.link) return;
  if (permission !== "self") {
    const { resource, rank } = split(permission);
    if (RANK[LINK_LEVELS[resource]] >= rank) return;
  }
  const sentence =
    "Cannot do this with a link token: it only reaches projects, deployments and the git host. Use a session or another token";
  throw new Failure("forbidden", "link_token", sentence);
}

/** Throws `narrowed_token` for a token that has fewer permissions than its owner, `link_token` for a link token. */
export function refuseNarrowed(principal: Principal): void {
  refuseLink(principal, "self");
  if (!principal.narrowing) return;
  const sentence = "Cannot do this with a limited token: use a session or a token without limits";
  throw new Failure("forbidden", "narrowed_token", sentence);
}

/** The failure for an authenticated caller that lacks a permission in its own organization. */
export function forbidden(permission: Permission | "self"): Failure {
  return new Failure(
    "forbidden",
    "forbidden",
    `Cannot do this without the permission "${permission}": ask an admin of your organization for it`,
  );
}

/** The failure for a caller without valid credentials. */
export function unauthenticated(
  message = 'Cannot identify the caller: send a valid token as "Authorization: Bearer …" or log in',
): Failure {
  return new Failure("unauthenticated", "unauthenticated", message);
}

function anyDeploymentOf(projectId: string): Target | undefined {
  return projectId === "*" ? undefined : { id: "", projectId };
}

function split(permission: Permission): { resource: Resource; rank: number } {
  const [resource, action] = permission.split(":") as [Resource, Action];
  return { resource, rank: RANK[action] };
}

/** Returns what a principal has of a resource by its role, or by its grants where these allow more. */
function heldRank({ role, credential }: Principal, resource: Resource, granted: number): number {
  const held = Math.max(RANK[ROLE_LEVELS[role][resource]], granted);
  return credential.link ? Math.min(held, RANK[LINK_LEVELS[resource]]) : held;
}

function listedRank(permissions: readonly Permission[], resource: Resource): number {
  let best = 0;
  for (const permission of permissions) {
    const listed = split(permission);
    if (listed.resource === resource && listed.rank > best) best = listed.rank;
  }
  return best;
}

function grantRank(grants: readonly Grant[], resource: Resource, target: Target | undefined): number {
  let best = 0;
  for (const grant of grants) {
    if (reaches(grant, resource, target) && RANK[grant.action] > best) best = RANK[grant.action];
  }
  return best;
}

function anyGrantRank(grants: readonly Grant[], resource: Resource): number {
  let best = 0;
  for (const grant of grants) {
    const counts = grant.resource === resource || (resource === "deployment" && grant.resource === "project");
    if (counts && RANK[grant.action] > best) best = RANK[grant.action];
  }
  return best;
}

function reaches(grant: Grant, resource: Resource, target: Target | undefined): boolean {
  if (grant.resource === resource) {
    if (grant.id === "*") return true;
    // An empty target id stands for any future deployment of a project; a grant with an empty id must not match it.
    if (!target || grant.id === "") return false;
    // A git host grant on an owner covers the owner's repositories.
    return grant.id === target.id || (resource === "githost" && target.id.startsWith(`${grant.id}/`));
  }
  if (resource !== "deployment" || grant.resource !== "project") return false;
  return grant.id === "*" || (target?.projectId !== undefined && grant.id === target.projectId);
}
