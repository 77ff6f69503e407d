import { Elysia, t } from "elysia";
import type { ReadCloudLink } from "../../application/cloud/cloud_link.ts";
import type { CloudUseCases } from "../../application/cloud/use_cases.ts";
import { Secret } from "../../domain/secret.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { about, Done, EmptyObject, explained, nullable, object, one, text, Time } from "../schema.ts";

const LinkView = object(
  {
    url: t.String({ description: "URL of the hosted cloud", examples: ["https://cloud.example.com"] }),
    hasToken: t.Boolean({ description: "Whether a token is stored" }),
    source: explained(
      { organization: "The organization's own link", installation: "Set by the operator for all organizations" },
      { description: "Who set the link", examples: ["organization"] },
    ),
    state: explained(
      {
        linked: "The cloud answers and accepts the token",
        unreachable: "The cloud does not answer",
        refused: "The cloud does not accept the token, or is no cloud",
      },
      { description: "Whether the link works now", examples: ["linked"] },
    ),
    updatedAt: about("Time when the link was last set; null for that of the installation", nullable(Time)),
  },
  { title: "CloudLink" },
);

const LinkBody = object({
  url: text(2_000, { description: "URL of the hosted cloud", examples: ["https://cloud.example.com"] }),
  token: text(500, { description: "Access token of the cloud; never shown again", examples: ["slp_…"] }),
});

/** Routes of the organization's link to the hosted cloud. */
export function cloudRoutes(access: Access, useCases: CloudUseCases) {
  return new Elysia({ prefix: "/api/cloud/link", tags: ["Cloud"] })
    .use(access)
    .get(
      "",
      async ({ principal, request }) => ({ data: view(await useCases.readCloudLink(principal, request.signal)) }),
      {
        permission: "organization:admin",
        ...operation({
          name: "cloud_link.get",
          summary: "Get the link to the cloud, without its token",
          answer: one(LinkView),
          problems: [404],
        }),
      },
    )
    .put(
      "",
      async ({ principal, request, body: { url, token } }) => ({
        data: view(await useCases.setCloudLink(principal, { url, token: new Secret(token) }, request.signal)),
      }),
      {
        permission: "organization:admin",
        body: LinkBody,
        ...operation({
          name: "cloud_link.set",
          summary: "Link the organization to the cloud, which is asked first; replaces a former link",
          answer: one(LinkView),
          problems: [502],
        }),
      },
    )
    .delete(
      "",
      async ({ principal }) => {
        await useCases.removeCloudLink(principal);
        return { success: true };
      },
      {
        permission: "organization:admin",
        body: EmptyObject,
        ...operation({ name: "cloud_link.remove", summary: "Remove the cloud link", answer: Done, problems: [404] }),
      },
    );
}

function view({ url, source, state, updatedAt }: ReadCloudLink) {
  return { url, hasToken: true, source, state, updatedAt: updatedAt?.toISOString() ?? null };
}
