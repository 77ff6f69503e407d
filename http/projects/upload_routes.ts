import { Elysia, t } from "elysia";
import type { ProjectUseCases } from "../../application/projects/use_cases.ts";
import { invalid } from "../../domain/failure.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { UPLOAD_MODE } from "../meanings.ts";
import {
  about,
  described,
  Done,
  done,
  explained,
  IdPath,
  integer,
  listResponse,
  many,
  EmptyObject,
  object,
  one,
  PageQuery,
  text,
  Time,
  viewText,
} from "../schema.ts";
import { detectionView } from "./detection_view.ts";
import { DetectionView, WaitingUploadView, waitingUploadView } from "./upload_schemas.ts";

const ARCHIVE = "application/gzip";
const uploadText = viewText(waitingUploadView);

const SessionPath = object({ sessionId: t.String({ description: "ID of the upload session, from POST /session" }) });

const SessionBody = object({
  name: t.Optional(text(100, { description: "Name of the folder", examples: ["harbour"] })),
  mode: t.Optional(
    explained(UPLOAD_MODE, { description: "Defaults to local; in cloud mode to cloud", examples: ["local"] }),
  ),
});

const OpenedView = done({
  sessionId: t.String({ description: "ID of the upload session", examples: ["upl_01m7edka8326kz9mv55sbbg868"] }),
  mode: explained(UPLOAD_MODE, { description: "Purpose of the upload" }),
  expiresAt: about("Expiry time: until then a folder can be uploaded and deployed", Time),
  upload: object(
    described(
      {
        url: t.String(),
        method: t.Literal("POST"),
        headers: object({ "content-type": t.Literal(ARCHIVE, { description: "Media type of a gzipped tar archive" }) }),
      },
      { url: "URL to send the archive to", method: "HTTP method", headers: "Request headers" },
    ),
    { description: "How to upload the folder" },
  ),
});

const UploadView = done({
  bytes: integer({ description: "Size of the archive in bytes" }),
  sha256: t.String({ description: "SHA-256 digest of the archive" }),
  files: integer({ description: "Number of files in the archive" }),
});

/** Routes of folder uploads. */
export function folderRoutes(access: Access, useCases: ProjectUseCases, publicUrl: string) {
  return new Elysia({ prefix: "/api/projects/folder", tags: ["Folder uploads"] })
    .use(access)
    .post(
      "/session",
      async ({ principal, body }) => {
        const { id, mode, expiresAt } = await useCases.openUploadSession(principal, body);
        const url = `${publicUrl}/api/projects/folder/upload/${id}`;
        const upload = { url, method: "POST", headers: { "content-type": ARCHIVE } };
        return { success: true, sessionId: id, mode, expiresAt: expiresAt.toISOString(), upload };
      },
      {
        permission: "project:write",
        body: SessionBody,
        ...operation({
          name: "upload.open",
          summary: "Open an upload session for one folder, for one hour; beyond the quota, evicts your oldest unused",
          answer: OpenedView,
        }),
      },
    )
    .post(
      "/upload/:sessionId",
      async ({ principal, params, request }) => {
        if (!request.body)
          throw invalid("upload_empty", "Cannot accept this upload: the body is empty. Send a gzipped tar");
        const length = request.headers.get("content-length");
        const announcedBytes = length === null ? undefined : Number(length);
        const archive = { stream: request.body, announcedBytes, signal: request.signal };
        return { success: true, ...(await useCases.receiveUpload(principal, params.sessionId, archive)) };
      },
      {
        permission: "deployment:write",
        params: SessionPath,
        parse: "none",
        ...operation({
          name: "upload.receive",
          summary: "Upload a folder as a gzipped tar, fully checked before the response; replaces a former upload",
          answer: UploadView,
          problems: [404, 409, 413],
          streams: ARCHIVE,
        }),
      },
    )
    .use(waitingSessions(access, useCases))
    .use(receivedFolders(access, useCases));
}

function waitingSessions(access: Access, useCases: ProjectUseCases) {
  return new Elysia({ name: "http/folders/waiting" })
    .use(access)
    .get(
      "/sessions",
      ({ principal, query }) => listResponse(query, (page) => useCases.listUploadSessions(principal, page), uploadText),
      {
        permission: "project:list",
        query: PageQuery,
        ...operation({
          name: "upload.list",
          summary: "List your own upload sessions that have neither expired nor been deployed, newest first",
          answer: many(WaitingUploadView),
        }),
      },
    )
    .delete(
      "/sessions/:id",
      async ({ principal, params }) => {
        await useCases.discardUploadSession(principal, params.id);
        return { success: true };
      },
      {
        permission: "project:write",
        params: IdPath,
        body: EmptyObject,
        ...operation({
          name: "upload.discard",
          summary: "Delete one of your own unused upload sessions with its files; aborts an upload in progress",
          answer: Done,
          problems: [404],
        }),
      },
    );
}

function receivedFolders(access: Access, useCases: ProjectUseCases) {
  return new Elysia({ name: "http/folders/received" }).use(access).post(
    "/scan/:sessionId",
    async ({ principal, params }) => ({
      data: detectionView(await useCases.scanUpload(principal, params.sessionId)),
    }),
    {
      permission: "deployment:write",
      params: SessionPath,
      body: EmptyObject,
      ...operation({
        name: "upload.scan",
        summary: "Detect the type of an uploaded folder and how to build it; executes none of its code",
        answer: one(DetectionView),
        problems: [404],
        unaudited: true,
      }),
    },
  );
}
