import type { Page } from "../../domain/page.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";

/** Lists the organizations a caller can act in: all of a session's memberships, the one a token is bound to. */
export function listOrganizations({ organizations }: { readonly organizations: Organizations }) {
  return (by: Principal, page: Page) =>
    by.credential.kind === "token"
      ? organizations.list([by.organizationId], page)
      : organizations.listOf(by.userId, page);
}
