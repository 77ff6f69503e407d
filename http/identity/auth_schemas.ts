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

export const Email = text(320, { description: "The e-mail address", examples: ["ada@example.com"] });
export const Password = text(1_000, { description: "The password", examples: ["correct horse battery"] });
export const PersonName = text(200, { description: "What the person is called", examples: ["Ada"] });
const Current = about("The password that counts now; needed where there is one", Password);

export const LoginBody = object({ email: Email, password: Password });
export const PasswordBody = object({ password: about("The new one", Password), current: t.Optional(Current) });
export const ProfileBody = object({
  name: t.Optional(PersonName),
  email: t.Optional(Email),
  current: t.Optional(Current),
});
export const AcceptBody = object({
  token: text(200, { description: "What the link of the invitation ends with" }),
  name: text(200, { minLength: 0, description: "What the person is called; may be empty", examples: ["Ada"] }),
  password: about("The new password, or that of the account that has this e-mail address already", Password),
});

export const UserView = object(
  {
    id: t.String({ description: "The id of the person", examples: ["usr_01m7edka8326kz9mv55sbbg868"] }),
    email: t.String({ description: "What the person logs in with" }),
    name: t.String({ description: "What the person is called" }),
    founder: t.Boolean({ description: "The first owner of the installation" }),
    hasPassword: t.Boolean({ description: "Whether the person can log in with a password" }),
    createdAt: about("When the account was made", Time),
  },
  { title: "User" },
);

export const MeView = object(
  {
    user: UserView,
    organization: about(
      "The organization that the request acts in",
      nullable(
        object({
          id: t.String({ description: "Its id" }),
          name: t.String({ description: "What it is called" }),
          slug: t.String({ description: "Its short name" }),
        }),
      ),
    ),
    role: RoleSchema,
    grants: Grants,
    credential: about(
      "What the caller proved who it is with",
      object(
        described(
          {
            kind: explained({ token: CREDENTIAL.token, session: CREDENTIAL.session }),
            id: t.String(),
            expiresAt: nullable(Time),
            permissions: nullable(t.Array(t.String())),
            grants: nullable(t.Array(GrantSchema)),
          },
          {
            kind: "Of which kind it is",
            id: "The id of the token or session",
            expiresAt: "When it ends; null when it does not",
            permissions: "What the token is narrowed to; null when it may do all that its owner may",
            grants: "On which single things a narrowed token may do something; null when it is not narrowed",
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
      ...credential,
      expiresAt: expiresAt?.toISOString() ?? null,
      permissions: narrowing?.permissions ?? null,
      grants: narrowing?.grants ?? null,
    },
  };
}
