import { t } from "elysia";
import type { CallerDescription } from "../../application/identity/describe_caller.ts";
import type { User } from "../../domain/identity/identity.ts";
import { CREDENTIAL } from "../meanings.ts";
import {
  about,
  described,
  explained,
  Grants,
  GrantSchema,
  nullable,
  object,
  RoleSchema,
  text,
  Time,
} from "../schema.ts";

export const Email = text(320, { description: "E-mail address", examples: ["ada@example.com"] });
export const Password = text(1_000, { description: "Password", examples: ["correct horse battery"] });
export const PersonName = text(200, { description: "Name of the user", examples: ["Ada"] });
const Current = about("Current password, if there is one; not needed with the first owner's token", Password);

export const LoginBody = object({ email: Email, password: Password });
export const PasswordBody = object({ password: about("New password", Password), current: t.Optional(Current) });
export const ProfileBody = object({
  name: t.Optional(PersonName),
  email: t.Optional(Email),
  current: t.Optional(Current),
});
export const AcceptBody = object({
  token: text(200, { description: "Invitation token, at the end of the invitation link" }),
  name: text(200, { minLength: 0, description: "Name of the user; may be empty", examples: ["Ada"] }),
  password: about("New password, or the current one if this e-mail address already has an account", Password),
});

export const UserView = object(
  {
    id: t.String({ description: "ID of the user", examples: ["usr_01m7edka8326kz9mv55sbbg868"] }),
    email: t.String({ description: "E-mail address, used to log in" }),
    name: t.String({ description: "Name of the user" }),
    founder: t.Boolean({ description: "Whether the user is the first owner of the installation" }),
    hasPassword: t.Boolean({ description: "Whether the user can log in with a password" }),
    createdAt: about("Creation time of the account", Time),
  },
  { title: "User" },
);

export const MeView = object(
  {
    user: UserView,
    organization: about(
      "Organization that the request acts in",
      nullable(
        object({
          id: t.String({ description: "ID of the organization" }),
          name: t.String({ description: "Name of the organization" }),
          slug: t.String({ description: "Slug of the organization" }),
        }),
      ),
    ),
    role: RoleSchema,
    grants: Grants,
    credential: about(
      "Credential of the request",
      object(
        described(
          {
            kind: explained({ token: CREDENTIAL.token, session: CREDENTIAL.session }),
            id: t.String(),
            link: t.Boolean(),
            expiresAt: nullable(Time),
            permissions: nullable(t.Array(t.String())),
            grants: nullable(t.Array(GrantSchema)),
          },
          {
            kind: "Type of the credential",
            id: "ID of the token or session",
            link: "Whether it is a link token, which only reaches projects, deployments and the git host",
            expiresAt: "Expiry time; null if it never expires",
            permissions:
              "Permissions that the token, or the member that a link token acts for, is limited to; null if it has all permissions of its owner",
            grants: "Grants of a limited token on individual resources; null if it is not limited",
          },
        ),
      ),
    ),
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
      kind: credential.kind,
      id: credential.id,
      link: credential.link ?? false,
      expiresAt: expiresAt?.toISOString() ?? null,
      permissions: narrowing?.permissions ?? null,
      grants: narrowing?.grants ?? null,
    },
  };
}
