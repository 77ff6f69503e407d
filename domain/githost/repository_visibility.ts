import { allows, type Grant, type Permission, type Principal } from "../identity/permission.ts";
import { fullName, type RepositoryName } from "./repository.ts";

/** A repository of the git host that a project is linked to. */
export interface LinkedRepository extends RepositoryName {
  readonly projectId: string;
}

/**
 * Returns a function that decides whether a member sees a repository: owners and admins see all of the connection, others
 * those of the projects that they can read and those that their grants name. A limited token sees no more than its limits.
 */
export function seesRepository(
  by: Principal,
  permission: Permission,
  linked: readonly LinkedRepository[],
): (name: RepositoryName) => boolean {
  const isAdmin = by.role === "owner" || by.role === "admin";
  const readable = linked.filter(({ projectId }) => allows(by, "project:read", { id: projectId, projectId }));
  const ofProjects = new Set(readable.map((name) => fullName(name).toLowerCase()));
  const lowered = withLowerCaseGrants(by);
  return (name) => {
    const id = fullName(name).toLowerCase();
    if (!allows(lowered, permission, { id })) return false;
    return isAdmin || ofProjects.has(id) || allows({ ...lowered, role: "restricted" }, permission, { id });
  };
}

/** Returns the principal with its grants on repositories in lower case, as names on a git host have none. */
function withLowerCaseGrants(by: Principal): Principal {
  const { narrowing } = by;
  return {
    ...by,
    grants: lowerCase(by.grants),
    narrowing: narrowing && { ...narrowing, grants: lowerCase(narrowing.grants) },
  };
}

function lowerCase(grants: readonly Grant[]): readonly Grant[] {
  return grants.map((grant) => (grant.resource === "githost" ? { ...grant, id: grant.id.toLowerCase() } : grant));
}
