import { Elysia } from "elysia";
import type { MigrationUseCases } from "../../application/migration/use_cases.ts";
import type { ServerUseCases } from "../../application/servers/use_cases.ts";
import type { Access } from "../access.ts";
import { eventStream } from "../event_stream.ts";
import { operation } from "../operation.ts";
import { preferredMedia } from "../preferred_media.ts";
import { problemOf } from "../problems.ts";
import { progressFeed } from "./progress_feed.ts";
import { AdoptBody, Adopted, ScanBody, Scanned } from "./schemas.ts";
import { adoptedView, stackView } from "./views.ts";

type UseCases = MigrationUseCases & Pick<ServerUseCases, "findServer">;

const EVENTS = "text/event-stream";
const PROGRESS = `With Accept: ${EVENTS}, events of the type progress say how far it is, and the last one, of the type \
result or problem, has the JSON that the response would have.`;

/** Routes that adopt what runs on a server. Not mounted in cloud mode. */
export function migrationRoutes(access: Access, useCases: UseCases, report: (error: unknown) => void) {
  return new Elysia({ prefix: "/api/migration", tags: ["Server migration"] })
    .use(access)
    .post(
      "/scan",
      async ({ principal, body, request }) => {
        const answer = async (options: { signal: AbortSignal; progress?: (sentence: string) => void }) => ({
          success: true,
          stack: stackView(await useCases.scanServer(principal, body.serverId, options)),
        });
        if (preferredMedia(request.headers.get("accept"), ["application/json", EVENTS]) !== EVENTS) {
          return answer({ signal: request.signal });
        }
        await useCases.findServer(principal, body.serverId, "server:write");
        const left = new AbortController();
        const signal = AbortSignal.any([request.signal, left.signal]);
        const feed = progressFeed((progress) => answer({ signal, progress }), {
          problem: (error) => problemOf(error, signal, report).json(),
        });
        return eventStream(feed, { report, onLeave: () => left.abort() });
      },
      {
        permission: "server:write",
        body: ScanBody,
        ...operation({
          name: "migration.scan",
          summary: "List the compose projects and containers of a server; nothing changes on the server",
          description: PROGRESS,
          answer: Scanned,
          alternative: EVENTS,
          problems: [404, 409, 502],
          unrepeatable: true,
        }),
      },
    )
    .post(
      "/adopt",
      async ({ principal, body, request }) => {
        const adopted = await useCases.adoptServices(principal, body, { signal: request.signal });
        return { success: true, ...adoptedView(adopted) };
      },
      {
        permission: "server:write",
        body: AdoptBody,
        ...operation({
          name: "migration.adopt",
          summary: "Create a project from services that run on a server; nothing is deployed or changed on the server",
          answer: Adopted,
          problems: [404, 409, 502],
        }),
      },
    );
}
