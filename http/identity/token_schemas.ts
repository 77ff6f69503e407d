import { t } from "elysia";
import type { AccessToken } from "../../domain/identity/identity.ts";
import { PERMISSION } from "../meanings.ts";
import { about, described, explained, Grants, nullable, object, text, Time } from "../schema.ts";

const Permissions = t.Array(explained(PERMISSION, { title: "Permission" }), {
  maxItems: Object.keys(PERMISSION).length,
  examples: [["project:read"]],
  description: "What the token may do at most; left out, with grants left out too: all that its owner may",
});
const TokenGrants = about("On which single things the token may do something, beside its permissions", Grants);

export const TokenBody = object({
  name: text(100, { description: "What it is for", examples: ["ci"] }),
  expiresAt: t.Optional(about("When it ends. Defaults to null: it does not", nullable(Time))),
  permissions: t.Optional(Permissions),
  grants: t.Optional(TokenGrants),
});

const plain = {
  id: t.String({ examples: ["tok_01m7edka8326kz9mv55sbbg868"] }),
  name: t.String({ examples: ["ci"] }),
  permissions: nullable(Permissions),
  grants: nullable(TokenGrants),
  expiresAt: nullable(Time),
  lastUsedAt: nullable(Time),
  createdAt: Time,
};

const fields = described(plain, {
  id: "The id of the token",
  name: "What it is for",
  permissions: "What it may do at most; null when it is not narrowed",
  grants: "On which single things it may do something; null when it is not narrowed",
  expiresAt: "When it ends; null when it does not",
  lastUsedAt: "When it was last used; null when it never was",
  createdAt: "When it was made",
});

export const TokenView = object(fields, { title: "Token" });

export const NewTokenView = object(
  { ...fields, token: nullable(t.String({ description: "Shown only here; null in a replay by Idempotency-Key" })) },
  { title: "NewToken" },
);

export function tokenView({ id, name, narrowing, expiresAt, lastUsedAt, createdAt }: AccessToken) {
  return {
    id,
    name,
    permissions: narrowing?.permissions ?? null,
    grants: narrowing?.grants ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
