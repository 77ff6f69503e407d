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
    id: t.String({ description: "ID of the user", examples: ["usr_01m7edka8326kz9mv55sbbg868"] }),
    email: t.String({ description: "E-mail address, used to log in" }),
    name: t.String({ description: "Name of the user" }),
    role: RoleSchema,
    grants: Grants,
    createdAt: about("Time when the user became a member", Time),
  },
  { title: "Member" },
);

const invitation = {
  id: t.String({ description: "ID of the invitation", examples: ["inv_01m7edka8326kz9mv55sbbg868"] }),
  email: t.String({ description: "E-mail address of the invited user" }),
  role: RoleSchema,
  grants: Grants,
  invitedBy: t.String({ description: "ID of the user who sent the invitation" }),
  createdAt: about("Creation time", Time),
  expiresAt: about("Expiry time of the invitation", Time),
};

export const InvitationView = object(invitation, { title: "Invitation" });

export const NewInvitationView = object(
  {
    ...invitation,
    token: nullable(t.String({ description: "The token. Shown only here; null in a replay by Idempotency-Key" })),
    link: nullable(
      t.String({
        description: "Invitation link to send to the user. Shown only here; null in a replay by Idempotency-Key",
        examples: ["https://slipway.example.com/api/auth/accept-invitation#token=…"],
      }),
    ),
  },
  { title: "NewInvitation" },
);

export const AuditQuery = parameters({
  ...PageFields,
  userId: t.Optional(text(100, { description: "Only entries of the user with this ID" })),
  action: t.Optional(text(100, { description: "Only entries with this action", examples: ["project.create"] })),
  target: t.Optional(text(300, { description: "Only entries whose target has this ID" })),
});

export const AuditView = object(
  described(
    {
      id: t.String(),
      userId: t.String(),
      credential: object({
        kind: explained(CREDENTIAL, { description: "Type of the credential" }),
        id: t.String({ description: "ID of the token, session, user or invitation" }),
      }),
      actingFor: nullable(
        object({
          id: t.String({ description: "ID of the member there" }),
          email: t.String({ description: "E-mail address of the member there" }),
        }),
      ),
      action: t.String({ examples: ["project.create"] }),
      target: nullable(t.String()),
      changed: t.Array(t.String(), { examples: [["name", "buildCommand"]] }),
      at: Time,
      from: t.String(),
      requestId: t.String(),
      outcome: explained(OUTCOME),
    },
    {
      id: "ID of the entry",
      userId: "ID of the user who did it",
      credential: "Credential of the request",
      actingFor:
        "Member of a linked installation that the request was made for, as that installation says; null if the credential is no link token",
      action: "Name of the operation (operationId in the OpenAPI document)",
      target: "ID of the affected resource; null if there is none",
      changed:
        "Names of the fields that the request set, or keys of the variables that it wrote or deleted, with preview. before those of previews; no values",
      at: "Time when the request started",
      from: "IP address of the caller",
      requestId: "X-Request-Id of the request",
      outcome: "Outcome of the request",
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
