import { t } from "elysia";
import type { CallerDescription } from "../../application/identity/describe_caller.ts";
import type { User } from "../../domain/identity.ts";
import { Grants, GrantSchema, nullable, object, oneOf, RoleSchema, text, Time } from "../schema.ts";

export const Email = text(320, { examples: ["ada@example.com"] });
export const Password = text(1_000, { examples: ["correct horse battery"] });
export const PersonName = text(200, { examples: ["Ada"] });

export const LoginBody = object({ email: Email, password: Password });
export const PasswordBody = object({ password: Password, current: t.Optional(Password) });
export const ProfileBody = object({
  name: t.Optional(PersonName),
  email: t.Optional(Email),
  current: t.Optional(Password),
});
export const AcceptBody = object({
  token: text(200),
  name: text(200, { minLength: 0, examples: ["Ada"] }),
  password: Password,
});

export const UserView = object(
  {
    id: t.String({ examples: ["usr_01m7edka8326kz9mv55sbbg868"] }),
    email: t.String(),
    name: t.String(),
    founder: t.Boolean({ description: "The first owner of the installation" }),
    hasPassword: t.Boolean(),
    createdAt: Time,
  },
  { title: "User" },
);

export const MeView = object(
  {
    user: UserView,
    organization: nullable(object({ id: t.String(), name: t.String(), slug: t.String() })),
    role: RoleSchema,
    grants: Grants,
    credential: object({
      kind: oneOf(["token", "session"] as const),
      id: t.String(),
      expiresAt: nullable(Time),
      permissions: nullable(t.Array(t.String())),
      grants: nullable(t.Array(GrantSchema)),
    }),
  },
  { title: "Me" },
);

export function userView({ id, email, name, founder, hasPassword, createdAt }: User) {
  return { id, email, name, founder, hasPassword, createdAt: createdAt.toISOString() };
}

export function meView({ user, organization, principal }: CallerDescription) {
  const { role, grants, credential, narrowing, expiresAt } = principal;
  return {
    user: userView(user),
    organization: organization ? { id: organization.id, name: organization.name, slug: organization.slug } : null,
    role,
    grants,
    credential: {
      ...credential,
      expiresAt: expiresAt?.toISOString() ?? null,
      permissions: narrowing?.permissions ?? null,
      grants: narrowing?.grants ?? null,
    },
  };
}
