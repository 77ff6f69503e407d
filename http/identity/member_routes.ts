import { Elysia } from "elysia";
import type { IdentityUseCases } from "../../application/identity/use_cases.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { Done, IdPath, listResponse, many, EmptyObject, one, PageQuery, viewText } from "../schema.ts";
import {
  AuditQuery,
  AuditView,
  InvitationBody,
  InvitationView,
  invitationView,
  MemberBody,
  MemberView,
  memberView,
  NewInvitationView,
} from "./member_schemas.ts";

const OWN_RIGHTS = "A caller cannot give, change or revoke rights that its own credential does not have.";

/** Routes of members, invitations and the audit log. */
export function memberRoutes(access: Access, useCases: IdentityUseCases, publicUrl: string) {
  return new Elysia({ prefix: "/api", tags: ["Identity"] })
    .use(access)
    .get(
      "/members",
      ({ principal, query }) => listResponse(query, (page) => useCases.listMembers(principal, page), memberText),
      {
        permission: "member:read",
        query: PageQuery,
        ...operation({
          name: "member.list",
          summary: "List the members of the organization",
          answer: many(MemberView),
        }),
      },
    )
    .get(
      "/members/invitations",
      ({ principal, query }) =>
        listResponse(query, (page) => useCases.listInvitations(principal, page), invitationText),
      {
        permission: "member:read",
        query: PageQuery,
        ...operation({
          name: "member.invitations",
          summary: "List pending invitations",
          answer: many(InvitationView),
        }),
      },
    )
    .use(invitations(access, useCases, publicUrl))
    .use(memberChanges(access, useCases))
    .get(
      "/audit",
      async ({ principal, query }) => {
        const { page: _, perPage: __, ...filter } = query;
        return listResponse(query, (page) => useCases.listAudit(principal, filter, page), auditText);
      },
      {
        permission: "member:read",
        query: AuditQuery,
        ...operation({
          name: "audit.list",
          summary: "List the audit log of changes in the organization",
          answer: many(AuditView),
        }),
      },
    );
}

function invitations(access: Access, useCases: IdentityUseCases, publicUrl: string) {
  return new Elysia({ name: "http/members/invitations" }).use(access).post(
    "/members",
    async ({ principal, body, set }) => {
      const { invitation, token } = await useCases.inviteMember(principal, body);
      set.status = 201;
      return {
        data: {
          ...invitationView(invitation),
          token,
          link: `${publicUrl}/api/auth/accept-invitation#token=${token}`,
        },
      };
    },
    {
      permission: "member:admin",
      body: InvitationBody,
      ...operation({
        name: "member.invite",
        summary: "Invite a user; replaces a former invitation. The link is shown once and is valid for seven days",
        description: OWN_RIGHTS,
        status: 201,
        answer: one(NewInvitationView),
        problems: [409],
        shownOnce: ["data.token", "data.link"],
      }),
    },
  );
}

function memberChanges(access: Access, useCases: IdentityUseCases) {
  return new Elysia({ name: "http/members/changes" })
    .use(access)
    .patch(
      "/members/:id",
      async ({ principal, params, body }) => ({
        data: memberView(await useCases.changeMember(principal, params.id, body)),
      }),
      {
        permission: "member:admin",
        params: IdPath,
        body: MemberBody,
        ...operation({
          name: "member.change",
          summary: "Change the role or grants of a member",
          description: OWN_RIGHTS,
          answer: one(MemberView),
          problems: [404],
        }),
      },
    )
    .delete(
      "/members/:id",
      async ({ principal, params }) => {
        await useCases.removeMember(principal, params.id);
        return { success: true };
      },
      {
        permission: "member:admin",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "member.remove",
          summary: "Remove a member with its tokens, or revoke an invitation",
          description: OWN_RIGHTS,
          answer: Done,
          problems: [404],
        }),
      },
    );
}

type Entry = Awaited<ReturnType<IdentityUseCases["listAudit"]>>["items"][number];

const memberText = viewText(memberView);
const invitationText = viewText(invitationView);
const auditText = viewText(auditView);

function auditView(entry: Entry) {
  const { organizationId: _, at, ...shown } = entry;
  return { ...shown, at: at.toISOString() };
}
