import { Elysia } from "elysia";
import type { BackupUseCases } from "../../application/backups/use_cases.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { Done, IdPath, listed, many, EmptyObject, one, PageQuery } from "../schema.ts";
import {
  DestinationBody,
  DestinationPatch,
  DestinationView,
  destinationView,
  DraftBody,
  OutcomeView,
  destinationInput,
} from "./schemas.ts";

const CHANGE_RULES =
  "A stored credential is only ever sent to the target it was given for: the host and port of an SFTP server, the " +
  "address of an S3 store. It is kept when the target changes, but a preflight then asks for it again; changing back " +
  "makes it valid again. Dropping or replacing a recorded sshHostKey, which moving to another sshHost or sshPort " +
  "also does, needs backup_destination:admin.";

/** Routes of backup destinations. */
export function backupDestinationRoutes(access: Access, useCases: BackupUseCases) {
  return new Elysia({ prefix: "/api/backup-destinations", tags: ["Backup destinations"] })
    .use(access)
    .get(
      "",
      ({ principal, query }) => listed(query, (page) => useCases.listDestinations(principal, page), destinationView),
      {
        permission: "backup_destination:list",
        query: PageQuery,
        ...operation({
          name: "backup_destination.list",
          summary: "List backup destinations, newest first",
          answer: many(DestinationView),
        }),
      },
    )
    .get(
      "/:id",
      async ({ principal, params }) => ({
        data: destinationView(await useCases.findDestination(principal, params.id, "backup_destination:read")),
      }),
      {
        permission: "backup_destination:read",
        params: IdPath,
        ...operation({
          name: "backup_destination.get",
          summary: "Read one backup destination; of its secrets it tells only which are there",
          answer: one(DestinationView),
          problems: [404],
        }),
      },
    )
    .use(changingRoutes(access, useCases))
    .use(preflightRoutes(access, useCases));
}

function changingRoutes(access: Access, useCases: BackupUseCases) {
  return new Elysia({ name: "http/backup_destinations/changes" })
    .use(access)
    .post(
      "",
      async ({ principal, body, set }) => {
        const destination = await useCases.createDestination(principal, destinationInput(body));
        set.status = 201;
        return { data: destinationView(destination) };
      },
      {
        permission: "backup_destination:write",
        body: DestinationBody,
        ...operation({
          name: "backup_destination.create",
          summary: "Record a backup destination; it is not tried yet",
          status: 201,
          answer: one(DestinationView),
        }),
      },
    )
    .patch(
      "/:id",
      async ({ principal, params, body }) => ({
        data: destinationView(await useCases.changeDestination(principal, params.id, destinationInput(body))),
      }),
      {
        permission: "backup_destination:write",
        params: IdPath,
        body: DestinationPatch,
        ...operation({
          name: "backup_destination.change",
          summary: "Change what is given of a backup destination; a credential left out stays, null clears it",
          description: CHANGE_RULES,
          answer: one(DestinationView),
          problems: [404, 409],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await useCases.removeDestination(principal, params.id);
        return { success: true };
      },
      {
        permission: "backup_destination:admin",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "backup_destination.remove",
          summary: "Forget a backup destination; what was written there stays",
          answer: Done,
          problems: [404],
        }),
      },
    );
}

function preflightRoutes(access: Access, useCases: BackupUseCases) {
  return new Elysia({ name: "http/backup_destinations/preflight" })
    .use(access)
    .post(
      "/preflight",
      ({ principal, body, request }) => useCases.preflightDraft(principal, destinationInput(body), request.signal),
      {
        permission: "backup_destination:write",
        body: DraftBody,
        ...operation({
          name: "backup_destination.preflight_draft",
          summary: "Try a destination without storing it: write a probe, read it back, delete it; within 30 s",
          answer: OutcomeView,
        }),
      },
    )
    .post(
      "/:id/preflight",
      ({ principal, params, request }) => useCases.preflightDestination(principal, params.id, request.signal),
      {
        permission: "backup_destination:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "backup_destination.preflight",
          summary: "Try a destination: write a probe, read it back, delete it; within 30 s, and the outcome is kept",
          answer: OutcomeView,
          problems: [404],
        }),
      },
    );
}
