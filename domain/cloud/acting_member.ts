import { invalid } from "../failure.ts";
import { hasControls } from "../given_name.ts";
import {
  type Action,
  ACTIONS,
  allows,
  type Grant,
  type Narrowing,
  type Permission,
  type Principal,
  type Resource,
  RESOURCES,
} from "../identity/permission.ts";

/**
 * The member of a self-hosted installation that a request to the hosted cloud is made for, with the most that it may do.
 * The cloud believes it only together with a link token, and only to narrow what that token may do.
 */
export interface ActingMember extends Narrowing {
  readonly id: string;
  readonly email: string;
}

/** The request header that carries the acting member. */
export const ACTING_MEMBER = "slipway-acting-member";

/** Longest accepted header. Leaves room for the other headers of a request. */
const MAX_LENGTH = 32_768;

/**
 * Returns the most that a principal may do with the deployments of some projects, as grants on these projects. They also
 * allow as much on the projects themselves: what is sent to the cloud with them must be about their deployments.
 */
export function grantsOnProjects(by: Principal, projectIds: readonly string[]): readonly Grant[] {
  return projectIds.flatMap((id) => {
    const action = ACTIONS.findLast((each) => allows(by, `deployment:${each}`, { id: "", projectId: id }));
    return action ? [{ resource: "project" as const, id, action }] : [];
  });
}

/** Returns the grants of a principal that name single deployments, as far as they count. */
export function grantsOnDeployments(by: Principal): readonly Grant[] {
  const named = [...by.grants, ...(by.narrowing?.grants ?? [])].filter(({ resource }) => resource === "deployment");
  const ids = new Set(named.map(({ id }) => id).filter((id) => id !== "*" && id !== ""));
  return [...ids].flatMap((id) => {
    const action = ACTIONS.findLast((each) => allows(by, `deployment:${each}`, { id }));
    return action ? [{ resource: "deployment" as const, id, action }] : [];
  });
}

/** Returns the most that a principal may do with one deployment and its project, as grants. */
export function grantsOnDeployment(by: Principal, deployment: { readonly id: string; readonly projectId: string }) {
  const { id, projectId } = deployment;
  const action = ACTIONS.findLast((each) => allows(by, `deployment:${each}`, { id, projectId }));
  const own: readonly Grant[] = action ? [{ resource: "deployment", id, action }] : [];
  return [...own, ...grantsOnProjects(by, [projectId])];
}

/** Encodes an acting member for its header. */
export function writeActingMember({ id, email, permissions, grants }: ActingMember): string {
  const text = JSON.stringify({ id, email, permissions, grants });
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * Returns the principal of a request with the header of an acting member: with a link token, one that acts for this
 * member and has no more than its rights. With any other credential the header is ignored, which is safe because it
 * could only narrow: the caller acts with its own rights, in its own name.
 */
export function actFor(principal: Principal, header: string | null): Principal {
  if (header === null || !principal.credential.link) return principal;
  const { id, email, permissions, grants } = readActingMember(header);
  return { ...principal, narrowing: { permissions, grants }, actingFor: { id, email } };
}

/** Decodes the header of an acting member. Throws a `Failure` for anything else, because ignoring it would widen. */
export function readActingMember(header: string): ActingMember {
  const value = header.length > MAX_LENGTH ? undefined : parsed(header);
  if (!isActingMember(value))
    throw invalid(
      "acting_member_unreadable",
      `Cannot read the header "${ACTING_MEMBER}": update the linked installation`,
    );
  const { id, email, permissions } = value;
  const grants = value.grants.map((grant) => ({ resource: grant.resource, id: grant.id, action: grant.action }));
  return { id, email, permissions, grants };
}

function parsed(header: string): unknown {
  try {
    const bytes = Uint8Array.fromBase64(header, { alphabet: "base64url" });
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function isActingMember(value: unknown): value is ActingMember {
  if (!isRecord(value)) return false;
  const { id, email, permissions, grants } = value;
  return (
    isShortText(id) &&
    isShortText(email) &&
    Array.isArray(permissions) &&
    permissions.every(isPermission) &&
    Array.isArray(grants) &&
    grants.every(isGrant)
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isShortText(value: unknown): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > 320) return false;
  return value.isWellFormed() && !hasControls(value);
}

function isPermission(value: unknown): value is Permission {
  if (typeof value !== "string") return false;
  const [resource, action, ...rest] = value.split(":");
  return rest.length === 0 && isResource(resource) && isAction(action);
}

function isGrant(value: unknown): value is Grant {
  return isRecord(value) && isResource(value["resource"]) && isAction(value["action"]) && isShortText(value["id"]);
}

function isResource(value: unknown): value is Resource {
  return (RESOURCES as readonly unknown[]).includes(value);
}

function isAction(value: unknown): value is Action {
  return (ACTIONS as readonly unknown[]).includes(value);
}
