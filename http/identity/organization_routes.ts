import { Elysia, t } from "elysia";
import type { IdentityUseCases } from "../../application/identity/use_cases.ts";
import type { Organization } from "../../domain/identity/identity.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { about, listResponse, many, object, one, PageQuery, text, Time, viewText } from "../schema.ts";

const OrganizationView = object(
  {
    id: t.String({ description: "ID of the organization", examples: ["org_01m7edka8326kz9mv55sbbg868"] }),
    name: t.String({ description: "Name of the organization", examples: ["Default"] }),
    slug: t.String({ description: "Slug, unique in the installation", examples: ["default"] }),
    createdAt: about("Creation time", Time),
  },
  { title: "Organization" },
);

const OrganizationBody = object({
  name: text(100, { description: "Name of the organization", examples: ["Harbour"] }),
  slug: t.Optional(text(40, { description: "Slug. Defaults to one derived from the name", examples: ["harbour"] })),
});

const organizationText = viewText(view);

/** Routes of the organizations that the caller can act in. */
export function organizationRoutes(access: Access, useCases: IdentityUseCases) {
  return new Elysia({ prefix: "/api/organizations", tags: ["Identity"] })
    .use(access)
    .get(
      "",
      ({ principal, query }) =>
        listResponse(query, (page) => useCases.listOrganizations(principal, page), organizationText),
      {
        permission: "self",
        query: PageQuery,
        ...operation({
          name: "organization.list",
          summary: "List the organizations that the caller can act in",
          answer: many(OrganizationView),
        }),
      },
    )
    .post(
      "",
      async ({ principal, body, set }) => {
        const organization = await useCases.createOrganization(principal, body);
        set.status = 201;
        return { data: view(organization) };
      },
      {
        permission: "organization:admin",
        body: OrganizationBody,
        ...operation({
          name: "organization.create",
          summary: "Create another organization; only the first owner of the installation can",
          status: 201,
          answer: one(OrganizationView),
          problems: [409],
        }),
      },
    );
}

function view({ id, name, slug, createdAt }: Organization) {
  return { id, name, slug, createdAt: createdAt.toISOString() };
}
