import { Elysia } from "elysia";
import type { ServerUseCases } from "../../application/servers/use_cases.ts";
import { Secret } from "../../domain/secret.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { Done, done, IdPath, listResponse, many, EmptyObject, one, PageQuery, viewText } from "../schema.ts";
import { ReportFields, ServerBody, ServerPatch, ServerView, serverView } from "./schemas.ts";

const serverText = viewText(serverView);

/** Routes of servers that are reached over SSH. */
export function serverRoutes(access: Access, useCases: ServerUseCases) {
  return new Elysia({ prefix: "/api/servers", tags: ["Servers"] })
    .use(access)
    .get(
      "",
      ({ principal, query }) => listResponse(query, (page) => useCases.listServers(principal, page), serverText),
      {
        permission: "server:list",
        query: PageQuery,
        ...operation({ name: "server.list", summary: "List servers, newest first", answer: many(ServerView) }),
      },
    )
    .get(
      "/:id",
      async ({ principal, params }) => ({
        data: serverView(await useCases.findServer(principal, params.id, "server:read")),
      }),
      {
        permission: "server:read",
        params: IdPath,
        ...operation({ name: "server.get", summary: "Get a server", answer: one(ServerView), problems: [404] }),
      },
    )
    .use(newServers(access, useCases))
    .use(serverChanges(access, useCases))
    .post(
      "/:id/check",
      async ({ principal, params, request }) => {
        const report = await useCases.checkServer(principal, params.id, request.signal);
        return { success: true, ...report, server: serverView(report.server) };
      },
      {
        permission: "server:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "server.check",
          summary: "Connect to the server over SSH, record or verify its host key, and report its container engine",
          answer: done(ReportFields),
          problems: [404, 409, 502],
        }),
      },
    );
}

function newServers(access: Access, useCases: ServerUseCases) {
  return new Elysia({ name: "http/servers/new" }).use(access).post(
    "",
    async ({ principal, body, set }) => {
      const { name, sshHost, sshPort = 22, sshUser, hostKey = null } = body;
      const credentials = {
        sshPassword: guarded(body.sshPassword) ?? null,
        sshPrivateKey: guarded(body.sshPrivateKey) ?? null,
        sshKeyPassphrase: guarded(body.sshKeyPassphrase) ?? null,
      };
      const server = await useCases.createServer(principal, {
        name,
        sshHost,
        sshPort,
        sshUser,
        hostKey,
        ...credentials,
      });
      set.status = 201;
      return { data: serverView(server) };
    },
    {
      permission: "server:write",
      body: ServerBody,
      ...operation({
        name: "server.create",
        summary: "Create a server without connecting to it",
        status: 201,
        answer: one(ServerView),
        problems: [409],
      }),
    },
  );
}

function serverChanges(access: Access, useCases: ServerUseCases) {
  return new Elysia({ name: "http/servers/changes" })
    .use(access)
    .patch(
      "/:id",
      async ({ principal, params, body: { sshPassword, sshPrivateKey, sshKeyPassphrase, ...rest } }) => {
        const secrets = {
          sshPassword: guarded(sshPassword),
          sshPrivateKey: guarded(sshPrivateKey),
          sshKeyPassphrase: guarded(sshKeyPassphrase),
        };
        const given = Object.fromEntries(Object.entries(secrets).filter(([, secret]) => secret !== undefined));
        return { data: serverView(await useCases.changeServer(principal, params.id, { ...rest, ...given })) };
      },
      {
        permission: "server:write",
        params: IdPath,
        body: ServerPatch,
        ...operation({
          name: "server.change",
          summary:
            "Update fields of a server; an omitted credential is kept, null clears it; replacing a recorded hostKey needs server:admin",
          answer: one(ServerView),
          problems: [404, 409],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await useCases.removeServer(principal, params.id);
        return { success: true };
      },
      {
        permission: "server:admin",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "server.remove",
          summary: "Delete a server that no project runs on; nothing changes on the server itself",
          answer: Done,
          problems: [404, 409],
        }),
      },
    );
}

function guarded(text: string | null | undefined): Secret | null | undefined {
  return typeof text === "string" ? new Secret(text) : text;
}
