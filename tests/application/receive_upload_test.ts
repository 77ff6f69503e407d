import { expect, test } from "bun:test";
import { memoryApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { file, streamOf, tarGz } from "../support/inputs/tar_archive.ts";

const MINUTE = 60_000;

/** An upload session that has received its first bytes. */
async function scene(replace: Parameters<typeof memoryApp>[1] = () => ({})) {
  const app = await memoryApp({}, replace);
  const { sessionId: id } = (await app.call("POST", "/api/projects/folder/session", { token: app.owner, body: {} }))
    .body;
  const path = `/api/projects/folder/upload/${id}`;
  const [organization] = (await app.call("GET", "/api/organizations", { token: app.owner })).body.data;
  const send = (raw: Uint8Array | ReadableStream<Uint8Array>) => app.call("POST", path, { token: app.owner, raw });
  const bytes = tarGz([file("slow.txt", "slow")]);
  const rest = Promise.withResolvers<void>();
  const slow = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes.subarray(0, 20)),
    async pull(controller) {
      await rest.promise;
      controller.enqueue(bytes.subarray(20));
      controller.close();
    },
  });
  const answer = send(slow);
  await eventually(
    () => app.world.uploadSessions.find(organization.id, id),
    (session) => session?.state === "receiving",
  );
  const finish = () => {
    rest.resolve();
    return answer;
  };
  return { app, id: id as string, send, finish };
}

test("receiveUpload() keeps the folder of the request that took over, and fails the stalled one", async () => {
  const { app, id, send, finish } = await scene();
  app.world.clock.advance(MINUTE);
  expect((await send(tarGz([file("quick.txt", "quick")]))).status).toBe(200);
  const late = await finish();
  expect([late.status, late.body.code]).toEqual([409, "upload_taken_over"]);
  const kept = await Array.fromAsync(app.world.uploadFiles.list(id));
  expect(kept.map((entry) => entry.path)).toEqual(["quick.txt"]);
});

test("receiveUpload() keeps nothing for a session that was swept meanwhile", async () => {
  const { app, id, finish } = await scene();
  app.world.clock.advance(61 * MINUTE);
  await app.useCases.sweepUploads();
  const late = await finish();
  expect([late.status, late.body.code]).toEqual([409, "upload_discarded"]);
  expect((await Array.fromAsync(app.world.uploadFiles.stored())).map((stored) => stored.id)).not.toContain(id);
});

test("receiveUpload() removes what it stored when its session is swept before the end", async () => {
  const { app, id, finish } = await scene(({ uploadSessions, clock }) => ({
    uploadSessions: intercepted(uploadSessions, "complete", async (goOn) => {
      clock.advance(61 * MINUTE);
      await uploadSessions.sweep([]);
      return goOn();
    }),
  }));
  const late = await finish();
  expect([late.status, late.body.code]).toEqual([409, "upload_discarded"]);
  expect((await Array.fromAsync(app.world.uploadFiles.stored())).map((stored) => stored.id)).not.toContain(id);
});

test("sweepUploads() removes expired sessions with their files, and files without a session after three hours", async () => {
  const { app, id, finish } = await scene();
  expect((await finish()).status).toBe(200);
  const { clock, uploadFiles } = app.world;
  const limits = { maxBytes: 1_000, maxUnpackedBytes: 10_000, maxEntries: 10 };
  await uploadFiles.receive("upl_orphan", streamOf(tarGz([file("lost.txt")])), { limits });
  const stored = async () => (await Array.fromAsync(uploadFiles.stored())).map((upload) => upload.id);
  expect(await stored()).toEqual([id, "upl_orphan"]);
  // File times come from the machine's clock.
  clock.set(new Date());
  await app.useCases.sweepUploads();
  expect(await stored()).toEqual(["upl_orphan"]);
  clock.advance(4 * 60 * MINUTE);
  await app.useCases.sweepUploads();
  expect(await stored()).toEqual([]);
});
