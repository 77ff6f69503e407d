import { t } from "elysia";
import type { Invitation, Member } from "../../domain/identity.ts";
import { Email } from "../auth/schemas.ts";
import { Grants, nullable, object, oneOf, PageFields, parameters, RoleSchema, text, Time } from "../schema.ts";

export const InvitationBody = object({ email: Email, role: RoleSchema, grants: t.Optional(Grants) });
export const MemberBody = object({ role: t.Optional(RoleSchema), grants: t.Optional(Grants) });

export const MemberView = object(
  {
    id: t.String({ examples: ["usr_01m7edka8326kz9mv55sbbg868"] }),
    email: t.String(),
    name: t.String(),
    role: RoleSchema,
    grants: Grants,
    createdAt: Time,
  },
  { title: "Member" },
);

const invitation = {
  id: t.String({ examples: ["inv_01m7edka8326kz9mv55sbbg868"] }),
  email: t.String(),
  role: RoleSchema,
  grants: Grants,
  invitedBy: t.String(),
  createdAt: Time,
  expiresAt: Time,
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
  userId: t.Optional(text(100)),
  action: t.Optional(text(100, { examples: ["project.create"] })),
  target: t.Optional(text(300)),
});

export const AuditView = object(
  {
    id: t.String(),
    userId: t.String(),
    credential: object({ kind: oneOf(["token", "session", "password", "invitation"] as const), id: t.String() }),
    action: t.String({ examples: ["project.create"] }),
    target: nullable(t.String()),
    at: Time,
    from: t.String({ description: "The caller's address" }),
    requestId: t.String(),
    outcome: oneOf(["started", "succeeded", "refused", "failed"] as const, {
      description: "`started` and nothing else: the server was stopped in the middle",
    }),
  },
  { title: "AuditEntry" },
);

export function memberView({ userId, email, name, role, grants, createdAt }: Member) {
  return { id: userId, email, name, role, grants, createdAt: createdAt.toISOString() };
}

export function invitationView({ id, email, role, grants, invitedBy, createdAt, expiresAt }: Invitation) {
  return { id, email, role, grants, invitedBy, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
}
