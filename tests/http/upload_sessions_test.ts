import { describe, expect, test } from "bun:test";
import { member, memoryApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";

const HOUR = 3_600_000;
const FOLDER = tarGz([file("index.html", "<h1>Hi</h1>")]);

async function scene() {
  const app = await memoryApp();
  const open = async (body: object = {}, token = app.owner) => {
    app.world.clock.advance(1);
    return (await app.call("POST", "/api/projects/folder/session", { token, body })).body.sessionId as string;
  };
  const send = (id: string, raw: Uint8Array | ReadableStream<Uint8Array> = FOLDER) =>
    app.call("POST", `/api/projects/folder/upload/${id}`, { token: app.owner, raw });
  const list = (query = "", token = app.owner) => app.call("GET", `/api/projects/folder/sessions${query}`, { token });
  const discard = (id: string, token = app.owner) =>
    app.call("DELETE", `/api/projects/folder/sessions/${id}`, { token });
  return { app, open, send, list, discard };
}

describe("GET /api/projects/folder/sessions", () => {
  test("lists the caller's own sessions, newest first, with their contents", async () => {
    const { app, open, send, list } = await scene();
    const first = await open({ name: "harbour" });
    const second = await open({ mode: "cloud" });
    await open({}, (await member(app, "developer")).token);
    const uploaded = (await send(first)).body;
    const now = app.world.clock.now().getTime();
    expect((await list()).body).toEqual({
      data: [
        {
          id: second,
          name: null,
          mode: "cloud",
          state: "open",
          bytes: null,
          sha256: null,
          files: null,
          createdAt: expect.any(String),
          expiresAt: expect.any(String),
        },
        {
          id: first,
          name: "harbour",
          mode: "local",
          state: "ready",
          bytes: FOLDER.length,
          sha256: uploaded.sha256,
          files: 1,
          createdAt: expect.any(String),
          expiresAt: new Date(now + HOUR).toISOString(),
        },
      ],
      total: 2,
      page: 1,
      perPage: 50,
    });
    const { body } = await list("?page=2&perPage=1");
    expect([body.total, body.data.length, body.data[0].id]).toEqual([2, 1, first]);
  });

  test("leaves out expired and deployed ones", async () => {
    const { app, open, send, list } = await scene();
    await open();
    app.world.clock.advance(HOUR);
    const deployed = await open();
    await send(deployed);
    const waiting = await open();
    const project = await app.call("POST", "/api/projects", { token: app.owner, body: { name: "Shop" } });
    const body = { projectId: project.body.data.id, uploadSessionId: deployed };
    await app.call("POST", "/api/deployments/build/access", { token: app.owner, body });
    expect((await list()).body.data.map(({ id }: { id: string }) => id)).toEqual([waiting]);
  });
});

describe("DELETE /api/projects/folder/sessions/:id", () => {
  test("discards a session with its files, once", async () => {
    const { app, open, send, list, discard } = await scene();
    const id = await open();
    await send(id);
    expect((await discard(id)).body).toEqual({ success: true });
    expect((await list()).body.total).toBe(0);
    expect(app.world.uploadFiles.texts(id)).toBeUndefined();
    for (const answer of [await discard(id), await send(id)])
      expect([answer.status, answer.body.code]).toEqual([404, "upload_session_not_found"]);
  });

  test("is limited to its owner, and does not find a deployed one", async () => {
    const { app, open, send, list, discard } = await scene();
    const developer = await member(app, "developer");
    const [own, deployed] = [await open(), await open()];
    const theirs = await open({}, developer.token);
    await send(deployed);
    const project = await app.call("POST", "/api/projects", { token: app.owner, body: { name: "Shop" } });
    const body = { projectId: project.body.data.id, uploadSessionId: deployed, start: false };
    await app.call("POST", "/api/deployments/build/access", { token: app.owner, body });
    const answers = [
      await discard(own, developer.token),
      await discard(theirs),
      await discard(deployed),
      await discard("upl_00000000000000000000000000"),
      await discard("nonsense"),
    ];
    for (const { status, body: problem } of answers) {
      expect([status, problem.code]).toEqual([404, "upload_session_not_found"]);
      expect(problem.error).toBe(answers[0]!.body.error);
    }
    expect((await list()).body.total).toBe(1);
    expect(app.world.uploadFiles.texts(deployed)).toBeDefined();
    expect((await discard(theirs, developer.token)).status).toBe(200);
  });

  test("aborts a running upload, and nothing of it is kept", async () => {
    const { app, open, send, list, discard } = await scene();
    const id = await open();
    const rest = Promise.withResolvers<void>();
    const slow = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(FOLDER.subarray(0, 20)),
      async pull(controller) {
        await rest.promise;
        controller.enqueue(FOLDER.subarray(20));
        controller.close();
      },
    });
    const sending = send(id, slow);
    await eventually(
      () => list(),
      ({ body }) => body.data[0].state === "receiving",
    );
    expect((await discard(id)).status).toBe(200);
    rest.resolve();
    const late = await sending;
    expect([late.status, late.body.code]).toEqual([409, "upload_discarded"]);
    expect(app.world.uploadFiles.texts(id)).toBeUndefined();
  });
});
