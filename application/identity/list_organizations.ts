import type { Page } from "../../domain/page.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";

/** Lists the organizations a caller can act in: all memberships for a session, only its own for a token. */
export function listOrganizations({ organizations }: { readonly organizations: Organizations }) {
  return (by: Principal, page: Page) =>
    by.credential.kind === "token"
      ? organizations.list([by.organizationId], page)
      : organizations.listOf(by.userId, page);
}
