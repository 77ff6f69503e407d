import { Failure, invalidField } from "../../domain/failure.ts";
import { readName } from "../../domain/given_name.ts";
import { newId } from "../../domain/id.ts";
import type { Organization } from "../../domain/identity/identity.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { isSlug, slugOf } from "../../domain/projects/project.ts";
import type { Clock } from "../../ports/system/clock.ts";
import type { Organizations } from "../../ports/identity/organizations.ts";

/** Creates another organization, owned by the first owner of the installation, the only one who may do this. */
export function createOrganization({
  clock,
  organizations,
}: {
  readonly clock: Clock;
  readonly organizations: Organizations;
}) {
  return async function (
    by: Principal,
    input: { readonly name: string; readonly slug?: string },
  ): Promise<Organization> {
    demand(by, "organization:admin");
    if (!by.founder) {
      throw new Failure(
        "forbidden",
        "founder_only",
        "Cannot create an organization: only the first owner of this installation may",
      );
    }
    const name = readName(input.name, "give the organization a name");
    const slug = input.slug ?? slugOf(name);
    if (!isSlug(slug)) throw invalidField("slug", "use lower-case letters, digits and -, at most 40");
    const createdAt = clock.now();
    const organization = { id: newId("org", createdAt), name, slug, createdAt };
    await organizations.create(organization, by.userId);
    return organization;
  };
}
