import { Elysia, t } from "elysia";
import type { DomainUseCases } from "../../application/domains/use_cases.ts";
import { type DomainName, proofPage, proofRecord } from "../../domain/domains/domain_name.ts";
import type { Page } from "../../domain/page.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { DOMAIN_TYPE } from "../meanings.ts";
import {
  described,
  Done,
  explained,
  IdPath,
  listResponse,
  many,
  EmptyObject,
  nullable,
  object,
  one,
  PageFields,
  parameters,
  text,
  Time,
  viewText,
} from "../schema.ts";

const ProofPage = object(
  described(
    { url: t.String(), value: t.String() },
    { url: "Where it is asked for, at port 80 of the name's addresses", value: "What the edge answers with" },
  ),
);

const ProofRecord = object(
  described(
    {
      type: t.Literal("TXT"),
      name: t.String({ examples: ["_slipway.www.example.com"] }),
      value: t.String(),
      http: nullable(ProofPage),
    },
    {
      type: "Record type",
      name: "Record name",
      value: "Record value",
      http: "The page that the edge serves, which verifies the name instead of the record once it leads here; null in cloud mode and where there are several organizations",
    },
  ),
);

const DomainView = object(
  described(
    {
      id: t.String({ examples: ["dom_01m7edka8326kz9mv55sbbg868"] }),
      projectId: t.String(),
      hostname: t.String({ examples: ["www.example.com"] }),
      type: explained(DOMAIN_TYPE, { title: "DomainType" }),
      verified: t.Boolean(),
      verifiedAt: nullable(Time),
      verification: nullable(ProofRecord),
      createdAt: Time,
    },
    {
      id: "ID of the host name",
      projectId: "ID of the project that it routes to",
      hostname: "The host name",
      type: "Whether it is under the base domain or custom",
      verified: "Whether it is verified, so that the edge routes it",
      verifiedAt: "Time of the verification; null if not verified",
      verification:
        "The DNS record to publish for verification, or the page that shows that the name leads here; null if none is needed",
      createdAt: "Time when it was claimed",
    },
  ),
  { title: "Domain" },
);

const DomainBody = object({
  projectId: text(100, { description: "ID of the project to route it to" }),
  hostname: text(253, { description: "Full host name", examples: ["www.example.com"] }),
});
const DomainQuery = parameters({
  ...PageFields,
  projectId: t.Optional(text(100, { description: "Only host names of this project" })),
});

const domainText = viewText((domain: DomainName) => view(domain, false));
const domainTextWithHttp = viewText((domain: DomainName) => view(domain, true));

/** Routes of host names and the projects they route to. */
export function domainRoutes(access: Access, useCases: DomainUseCases) {
  return new Elysia({ prefix: "/api/domains", tags: ["Domains"] })
    .use(access)
    .get(
      "",
      ({ principal, query }) => {
        let countsHttp = false;
        const list = async (page: Page) => {
          const listing = await useCases.listDomains(principal, query.projectId, page);
          countsHttp = await useCases.countsHttpVerification(listing.items);
          return listing;
        };
        const textOf = () => (countsHttp ? domainTextWithHttp : domainText);
        return listResponse(query, list, { ...domainText, ofPage: (items) => textOf().ofPage(items) });
      },
      {
        permission: "project:list",
        query: DomainQuery,
        ...operation({ name: "domain.list", summary: "List host names, newest first", answer: many(DomainView) }),
      },
    )
    .post(
      "",
      async ({ principal, body, set }) => {
        const domain = await useCases.claimDomain(principal, body);
        set.status = 201;
        return { data: view(domain, await useCases.countsHttpVerification([domain])) };
      },
      {
        permission: "project:write",
        body: DomainBody,
        ...operation({
          name: "domain.create",
          summary: "Add a host name to a project; a taken free name gets a random suffix",
          status: 201,
          answer: one(DomainView),
          problems: [404, 409],
        }),
      },
    )
    .use(claimedDomains(access, useCases));
}

function claimedDomains(access: Access, useCases: DomainUseCases) {
  return new Elysia({ name: "http/domains/claimed" })
    .use(access)
    .post(
      "/:id/verify",
      async ({ principal, params, request }) => ({
        data: view(await useCases.verifyDomain(principal, params.id, request.signal), false),
      }),
      {
        permission: "project:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "domain.verify",
          summary: "Verify a host name by its TXT record, or because it leads to this installation",
          answer: one(DomainView),
          problems: [404, 409, 503],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await useCases.removeDomain(principal, params.id);
        return { success: true };
      },
      {
        permission: "project:admin",
        params: IdPath,
        body: EmptyObject,
        ...operation({ name: "domain.remove", summary: "Delete a host name", answer: Done, problems: [404] }),
      },
    );
}

function view(domain: DomainName, countsHttp: boolean) {
  const { id, projectId, hostname, type, verifiedAt, createdAt } = domain;
  const { url, text: value } = proofPage(domain);
  const page = { url, value };
  return {
    id,
    projectId,
    hostname,
    type,
    verified: verifiedAt !== null,
    verifiedAt: verifiedAt?.toISOString() ?? null,
    verification: verifiedAt ? null : { type: "TXT", ...proofRecord(domain), http: countsHttp ? page : null },
    createdAt: createdAt.toISOString(),
  };
}
