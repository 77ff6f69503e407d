import { t } from "elysia";
import type { Invitation, Member } from "../../domain/identity/identity.ts";
import { Email } from "./auth_schemas.ts";
import { CREDENTIAL, OUTCOME } from "../meanings.ts";
import {
  about,
  described,
  explained,
  Grants,
  nullable,
  object,
  PageFields,
  parameters,
  RoleSchema,
  text,
  Time,
} from "../schema.ts";

export const InvitationBody = object({ email: Email, role: RoleSchema, grants: t.Optional(Grants) });
export const MemberBody = object({ role: t.Optional(RoleSchema), grants: t.Optional(Grants) });

export const MemberView = object(
  {
    id: t.String({ description: "The id of the person", examples: ["usr_01m7edka8326kz9mv55sbbg868"] }),
    email: t.String({ description: "What the person logs in with" }),
    name: t.String({ description: "What the person is called" }),
    role: RoleSchema,
    grants: Grants,
    createdAt: about("Since when the person is a member", Time),
  },
  { title: "Member" },
);

const invitation = {
  id: t.String({ description: "The id of the invitation", examples: ["inv_01m7edka8326kz9mv55sbbg868"] }),
  email: t.String({ description: "Who is invited" }),
  role: RoleSchema,
  grants: Grants,
  invitedBy: t.String({ description: "The id of the person who invited" }),
  createdAt: about("When it was made", Time),
  expiresAt: about("Until when it can be accepted", Time),
};

export const InvitationView = object(invitation, { title: "Invitation" });

export const NewInvitationView = object(
  {
    ...invitation,
    token: nullable(t.String({ description: "Shown only here; null in a replay by Idempotency-Key" })),
    link: nullable(
      t.String({
        description: "To send to the person; shown only here",
        examples: ["https://slipway.example.com/api/auth/accept-invitation#token=…"],
      }),
    ),
  },
  { title: "NewInvitation" },
);

export const AuditQuery = parameters({
  ...PageFields,
  userId: t.Optional(text(100, { description: "Only what this person did" })),
  action: t.Optional(text(100, { description: "Only this action", examples: ["project.create"] })),
  target: t.Optional(text(300, { description: "Only what was done to the thing of this id" })),
});

export const AuditView = object(
  described(
    {
      id: t.String(),
      userId: t.String(),
      credential: object({
        kind: explained(CREDENTIAL, { description: "Of which kind it is" }),
        id: t.String({ description: "The id of the token, session, person or invitation" }),
      }),
      action: t.String({ examples: ["project.create"] }),
      target: nullable(t.String()),
      changed: t.Array(t.String(), { examples: [["name", "buildCommand"]] }),
      at: Time,
      from: t.String(),
      requestId: t.String(),
      outcome: explained(OUTCOME),
    },
    {
      id: "The id of the entry",
      userId: "Who did it",
      credential: "What the person proved who it is with",
      action: "What was done: the name of the operation, as in this document",
      target: "The id of what it was done to; null where there is none",
      changed: "Names of the fields that the request set, or keys of the variables that it wrote or deleted; no values",
      at: "When it was begun",
      from: "The caller's address",
      requestId: "The X-Request-Id of the request",
      outcome: "How it ended",
    },
  ),
  { title: "AuditEntry" },
);

export function memberView({ userId, email, name, role, grants, createdAt }: Member) {
  return { id: userId, email, name, role, grants, createdAt: createdAt.toISOString() };
}

export function invitationView({ id, email, role, grants, invitedBy, createdAt, expiresAt }: Invitation) {
  return { id, email, role, grants, invitedBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
