import type { Organization, User } from "../../domain/identity/identity.ts";
import { type Principal, unauthenticated } from "../../domain/identity/permission.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";
import type { Users } from "../../ports/identity/users.ts";

export interface CallerDescription {
  readonly user: User;
  readonly organization: Organization | undefined;
  readonly principal: Principal;
}

/** Returns the caller's user, organization and permissions. */
export function describeCaller({
  organizations,
  users,
}: {
  readonly organizations: Organizations;
  readonly users: Users;
}) {
  return async function (by: Principal): Promise<CallerDescription> {
    const [user, { items }] = await Promise.all([
      users.find(by.userId),
      organizations.list([by.organizationId], { page: 1, perPage: 1 }),
    ]);
    if (!user) throw unauthenticated();
    return { user, organization: items[0], principal: by };
  };
}
