import { Elysia } from "elysia";
import type { BackupUseCases } from "../../application/backups/use_cases.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { Done, EmptyObject, IdPath, listResponse, many, one, oneResponse, PageQuery, viewText } from "../schema.ts";
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
  "Slipway sends a stored credential only to the target it was set for: the host and port of an SFTP server, or the " +
  "URL of an S3 store. When the target changes, the credential is kept, but a preflight requires it again; changing " +
  "the target back makes it valid again. Removing or replacing a recorded sshHostKey needs backup_destination:admin; " +
  "changing sshHost or sshPort also removes it.";

const destinationText = viewText(destinationView);

/** Routes of backup destinations. */
export function backupDestinationRoutes(access: Access, useCases: BackupUseCases) {
  return new Elysia({ prefix: "/api/backup-destinations", tags: ["Backup destinations"] })
    .use(access)
    .get(
      "",
      ({ principal, query }) =>
        listResponse(query, (page) => useCases.listDestinations(principal, page), destinationText),
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
      async ({ principal, params }) =>
        oneResponse(await useCases.findDestination(principal, params.id, "backup_destination:read"), destinationText),
      {
        permission: "backup_destination:read",
        params: IdPath,
        ...operation({
          name: "backup_destination.get",
          summary: "Get a backup destination; shows which secrets are stored, but not their values",
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
          summary: "Create a backup destination without testing it",
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
          summary: "Update fields of a backup destination; an omitted credential is kept, null clears it",
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
          summary: "Delete a backup destination; the data written there stays",
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
          summary: "Test a destination without storing it: write a probe, read it back, delete it; within 30 s",
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
          summary: "Test a destination and store the result: write a probe, read it back, delete it; within 30 s",
          answer: OutcomeView,
          problems: [404],
        }),
      },
    );
}
