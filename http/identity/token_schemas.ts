import { t } from "elysia";
import type { AccessToken } from "../../domain/identity/identity.ts";
import { PERMISSION } from "../meanings.ts";
import { about, described, explained, Grants, nullable, object, text, Time } from "../schema.ts";

const Permissions = t.Array(explained(PERMISSION, { title: "Permission" }), {
  maxItems: Object.keys(PERMISSION).length,
  examples: [["project:read"]],
  description: "Permissions that the token is limited to. Without permissions and grants, it has those of its owner",
});
const TokenGrants = about("Grants of the token on individual resources, in addition to its permissions", Grants);

export const TokenBody = object({
  name: text(100, { description: "Name of the token, such as its purpose", examples: ["ci"] }),
  expiresAt: t.Optional(
    about("Expiry time. Defaults to that of the token in use, if any, else to null (never expires)", nullable(Time)),
  ),
  permissions: t.Optional(Permissions),
  grants: t.Optional(TokenGrants),
  link: t.Optional(
    t.Boolean({
      description:
        "Whether the token links a self-hosted installation to this cloud. Only in cloud mode, by owners, without permissions and grants. Defaults to false",
    }),
  ),
});

const plain = {
  id: t.String({ examples: ["tok_01m7edka8326kz9mv55sbbg868"] }),
  name: t.String({ examples: ["ci"] }),
  permissions: nullable(Permissions),
  grants: nullable(TokenGrants),
  link: t.Boolean(),
  expiresAt: nullable(Time),
  lastUsedAt: nullable(Time),
  createdAt: Time,
};

const fields = described(plain, {
  id: "ID of the token",
  name: "Name of the token, such as its purpose",
  permissions: "Permissions that the token is limited to; null if it is not limited",
  grants: "Grants of the token on individual resources; null if it is not limited",
  link: "Whether the token links a self-hosted installation to this cloud: it only reaches projects, deployments and the git host",
  expiresAt: "Expiry time; null if it never expires",
  lastUsedAt: "Time of the last use; null if it was never used",
  createdAt: "Creation time",
});

export const TokenView = object(fields, { title: "Token" });

export const NewTokenView = object(
  {
    ...fields,
    token: nullable(t.String({ description: "The token. Shown only here; null in a replay by Idempotency-Key" })),
  },
  { title: "NewToken" },
);

export function tokenView({ id, name, narrowing, link, expiresAt, lastUsedAt, createdAt }: AccessToken) {
  return {
    id,
    name,
    permissions: narrowing?.permissions ?? null,
    grants: narrowing?.grants ?? null,
    link,
    expiresAt: expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
