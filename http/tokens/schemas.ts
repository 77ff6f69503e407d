import { t } from "elysia";
import type { AccessToken } from "../../domain/identity.ts";
import { ACTIONS, RESOURCES } from "../../domain/permission.ts";
import { Grants, nullable, object, oneOf, text, Time } from "../schema.ts";

const PERMISSIONS = RESOURCES.flatMap((resource) => ACTIONS.map((action) => `${resource}:${action}` as const));
const Permissions = t.Array(oneOf(PERMISSIONS), { maxItems: PERMISSIONS.length, examples: [["project:read"]] });

export const TokenBody = object({
  name: text(100, { examples: ["ci"] }),
  expiresAt: t.Optional(nullable(Time)),
  permissions: t.Optional(Permissions),
  grants: t.Optional(Grants),
});

const fields = {
  id: t.String({ examples: ["tok_01m7edka8326kz9mv55sbbg868"] }),
  name: t.String({ examples: ["ci"] }),
  permissions: nullable(Permissions),
  grants: nullable(Grants),
  expiresAt: nullable(Time),
  lastUsedAt: nullable(Time),
  createdAt: Time,
};

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
