import { expect, test } from "bun:test";
import { member, memoryApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";

const HOUR = 3_600_000;

async function scene() {
  const app = await memoryApp();
  const open = (token = app.owner) => {
    app.world.clock.advance(1);
    return app.call("POST", "/api/projects/folder/session", { token, body: {} });
  };
  const fill = async (count: number, token?: string) => {
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      const { status, body } = await open(token);
      expect(status).toBe(200);
      ids.push(body.sessionId);
    }
    return ids;
  };
  const list = async (token = app.owner) => {
    const { body } = await app.call("GET", "/api/projects/folder/sessions", { token });
    return body.data.map(({ id }: { id: string }) => id) as string[];
  };
  const send = (id: string, raw: Uint8Array | ReadableStream<Uint8Array> = tarGz([file("index.html")])) =>
    app.call("POST", `/api/projects/folder/upload/${id}`, { token: app.owner, raw });
  return { app, open, fill, list, send };
}

/** The beginning of an upload that then stalls. */
function endless() {
  const bytes = tarGz([file("slow.txt")]).subarray(0, 20);
  return new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes) });
}

test("the oldest of a user's 20 sessions is evicted, with its files", async () => {
  const { app, fill, list, send } = await scene();
  const ids = await fill(20);
  expect((await send(ids[0]!)).status).toBe(200);
  const developer = await member(app, "developer");
  const theirs = await fill(1, developer.token);
  const [next] = await fill(1);
  expect(await list()).toEqual([next!, ...ids.slice(1).toReversed()]);
  expect(await list(developer.token)).toEqual(theirs);
  expect(await Array.fromAsync(app.world.uploadFiles.stored())).toEqual([]);
  const late = await send(ids[0]!);
  expect([late.status, late.body.code]).toEqual([404, "upload_session_not_found"]);
});

test("sessions that were deployed or expired do not count", async () => {
  const { app, fill, list, send } = await scene();
  const [first] = await fill(1);
  await send(first!);
  const ids = await fill(19);
  const project = await app.call("POST", "/api/projects", { token: app.owner, body: { name: "Shop" } });
  const body = { projectId: project.body.data.id, uploadSessionId: first };
  expect((await app.call("POST", "/api/deployments/build/access", { token: app.owner, body })).status).toBe(200);
  const [last] = await fill(1);
  expect(await list()).toEqual([last!, ...ids.toReversed()]);
  app.world.clock.advance(HOUR);
  expect(await list()).toEqual([]);
  expect((await fill(20)).toReversed()).toEqual(await list());
});

test("no session is evicted while it is being received: if all are, another is refused", async () => {
  const { app, open, fill, list, send } = await scene();
  const ids = await fill(20);
  for (const id of ids) void send(id, endless());
  const { body: listing } = await eventually(
    () => app.call("GET", "/api/projects/folder/sessions", { token: app.owner }),
    ({ body }) => body.data.every(({ state }: { state: string }) => state === "receiving"),
  );
  expect(listing.total).toBe(20);
  const { status, body } = await open();
  expect([status, body.code]).toEqual([400, "too_many_uploads"]);
  expect(body.error).toBe(
    "Cannot open another upload session: you have 20, and all of them are receiving a folder. " +
      "Wait until one has arrived, or discard one",
  );
  expect(await list()).toEqual(ids.toReversed());
});

test("an organization's limit of 100 refuses a user who has no session there to evict", async () => {
  const { app, open, fill, list } = await scene();
  const ids = await fill(20);
  for (let person = 0; person < 4; person++) await fill(20, (await member(app, "developer")).token);
  const { status, body } = await open((await member(app, "developer")).token);
  expect([status, body.code]).toEqual([400, "too_many_uploads"]);
  expect(body.error).toContain("your organization has 100, and none of yours can be evicted");
  const [next] = await fill(1);
  expect(await list()).toEqual([next!, ...ids.slice(1).toReversed()]);
});
