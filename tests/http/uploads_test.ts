import { describe, expect, test } from "bun:test";
import { type Call, member, memoryApp } from "../support/apps/app.ts";
import { hostileArchives } from "../support/inputs/hostile_archives.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { file, streamOf, tarGz } from "../support/inputs/tar_archive.ts";

const HOUR = 3_600_000;
const GOOD = tarGz([
  file(
    "package.json",
    JSON.stringify({
      name: "site",
      scripts: { build: "vite build", start: "node server.js" },
      dependencies: { vite: "7.0.0" },
    }),
  ),
  file("src/index.js", "console.log('hi')"),
]);

async function scene(settings: Parameters<typeof memoryApp>[0] = {}) {
  const app = await memoryApp(settings);
  const open = (body: object = {}, token = app.owner) =>
    app.call("POST", "/api/projects/folder/session", { token, body });
  const send = (id: string, raw: Call["raw"], { token = app.owner, headers = {} }: Call = {}) =>
    app.call("POST", `/api/projects/folder/upload/${id}`, { token, headers, ...(raw !== undefined && { raw }) });
  const scan = (id: string, token = app.owner) => app.call("POST", `/api/projects/folder/scan/${id}`, { token });
  const { sessionId } = (await open()).body;
  return { app, open, send, scan, id: sessionId as string };
}

describe("POST /api/projects/folder/session", () => {
  test("opens a session for an hour and says how to upload", async () => {
    const { app, open } = await scene();
    const { body } = await open({ name: "harbour", mode: "cloud" });
    expect(body).toEqual({
      success: true,
      sessionId: expect.stringMatching(/^upl_[0-9a-z]{26}$/),
      mode: "cloud",
      expiresAt: new Date(app.world.clock.now().getTime() + HOUR).toISOString(),
      upload: {
        url: `http://slipway.test/api/projects/folder/upload/${body.sessionId}`,
        method: "POST",
        headers: { "content-type": "application/gzip" },
      },
    });
    expect((await open()).body.mode).toBe("local");
    expect((await open({ mode: "moon" })).status).toBe(400);
  });

  test("in cloud mode is of mode cloud; mode local is refused with 403", async () => {
    const { open } = await scene({ mode: "cloud" });
    expect((await open()).body.mode).toBe("cloud");
    expect((await open({ mode: "cloud" })).body.mode).toBe("cloud");
    const local = await open({ mode: "local" });
    expect([local.status, local.body.code]).toEqual([403, "local_source_forbidden"]);
  });
});

describe("POST /api/projects/folder/upload/:sessionId", () => {
  test("accepts a gzipped tar, whole or in pieces, and returns its size, hash and files", async () => {
    for (const raw of [GOOD, streamOf(GOOD, 7)]) {
      const { id, send } = await scene();
      const sha256 = new Bun.CryptoHasher("sha256").update(GOOD).digest("hex");
      expect((await send(id, raw)).body).toEqual({ success: true, bytes: GOOD.length, sha256, files: 2 });
    }
  });

  test("again replaces what the session held, for another hour", async () => {
    const { app, id, send, scan } = await scene();
    await send(id, GOOD);
    expect((await scan(id)).body.data.packageManager).toBe("npm");
    app.world.clock.advance(HOUR / 2);
    const other = tarGz([file("index.html", "<h1>Hi</h1>")]);
    expect((await send(id, other)).body).toMatchObject({ success: true, bytes: other.length, files: 1 });
    expect(Object.keys(app.world.uploadFiles.texts(id)!)).toEqual(["index.html"]);
    app.world.clock.advance(HOUR - 1);
    expect((await scan(id)).body.data).toMatchObject({ packageManager: null, projectType: "static" });
  });

  test("again, when refused, leaves the session open, without what it held", async () => {
    const { app, id, send, scan } = await scene();
    await send(id, GOOD);
    expect((await send(id, tarGz([file("../evil")]))).status).toBe(400);
    expect((await scan(id)).body.code).toBe("upload_not_ready");
    expect(app.world.uploadFiles.texts(id)).toBeUndefined();
    expect((await send(id, GOOD)).status).toBe(200);
  });

  test("answers 409 once the folder was deployed, as does a scan", async () => {
    const { app, id, send, scan } = await scene();
    await send(id, GOOD);
    const { owner: token } = app;
    const project = await app.call("POST", "/api/projects", { token, body: { name: "Shop" } });
    const body = { projectId: project.body.data.id, uploadSessionId: id, start: false };
    expect((await app.call("POST", "/api/deployments/build/access", { token, body })).status).toBe(200);
    const answer = await send(id, GOOD);
    expect([answer.status, answer.body.code]).toEqual([409, "upload_done"]);
    expect((await scan(id)).body.error).toBe(
      "Cannot scan: this folder was deployed already. Upload it to a new session",
    );
  });

  test("accepts one of several concurrent uploads", async () => {
    const { id, send } = await scene();
    const answers = await Promise.all([50, 60, 70].map((piece) => send(id, streamOf(GOOD, piece))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });

  test("is limited to the session's owner: it is not found for others, even of the same organization", async () => {
    const { app, open, send, scan, id } = await scene();
    const developer = await member(app, "developer");
    const theirs = (await open({}, developer.token)).body.sessionId;
    const answers = [
      await send(id, GOOD, { token: developer.token }),
      await scan(id, developer.token),
      await send(theirs, GOOD),
      await scan(theirs),
      await send("upl_00000000000000000000000000", GOOD),
      await send("nonsense", GOOD),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([404, "upload_session_not_found"]);
    expect((await send(theirs, GOOD, { token: developer.token })).status).toBe(200);
  });

  test("must arrive within the hour", async () => {
    const { app, id, send } = await scene();
    app.world.clock.advance(HOUR - 1);
    expect((await send(id, tarGz([file("../evil")]))).body.code).toBe("archive_name_refused");
    app.world.clock.advance(1);
    const late = await send(id, GOOD);
    expect([late.status, late.body.code]).toEqual([400, "upload_expired"]);
  });

  test("refuses hostile archives as a whole, and the session stays open for a retry", async () => {
    const { id, send, scan } = await scene();
    for (const { what, code, bytes } of hostileArchives) {
      const answer = await send(id, streamOf(bytes));
      expect([what, answer.status, answer.body.code]).toEqual([what, 400, code]);
      expect((await scan(id)).body.code).toBe("upload_not_ready");
    }
    expect((await send(id, GOOD)).status).toBe(200);
  });

  test("refuses what is empty, not an archive, truncated or aborted, and the session is open again", async () => {
    const { id, send } = await scene();
    const broken = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(GOOD.slice(0, 20)),
      pull: (controller) => controller.error(new Error("connection reset")),
    });
    for (const raw of [undefined, new Uint8Array(), "hello", GOOD.slice(0, -9), broken]) {
      expect((await send(id, raw)).status).toBe(400);
    }
    expect((await send(id, GOOD)).status).toBe(200);
  });

  test("answers 413 beyond the limits: announced, sent, or unpacked", async () => {
    const { id, send, app } = await scene({ uploadMaxBytes: 20_000 });
    const noise = tarGz([file("noise", randomInput("uploads beyond the limits").bytes(30_000))]);
    const answers = [
      await send(id, GOOD, { headers: { "content-length": "20001" } }),
      await send(id, noise),
      await send(id, streamOf(noise, 1_000)),
      await send(id, tarGz([file("zeros", new Uint8Array(80_001))])),
    ];
    for (const { status, body } of answers) expect([status, body.error]).toEqual([413, expect.stringMatching(/\d{5}/)]);
    expect((await send(id, tarGz([file("zeros", new Uint8Array(70_000))]))).status).toBe(200);
    expect(app.world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("POST /api/projects/folder/scan/:sessionId", () => {
  test("describes the folder, once it is uploaded", async () => {
    const { id, send, scan } = await scene();
    expect((await scan(id)).body.code).toBe("upload_not_ready");
    await send(id, GOOD);
    const { data } = (await scan(id)).body;
    expect(data).toMatchObject({
      packageManager: "npm",
      buildCommand: "npm run build",
      dockerfile: null,
      services: [],
    });
    expect((await scan(id)).body.data).toEqual(data);
  });

  test("treats broken and hostile manifests as files", async () => {
    for (const text of [
      "{",
      "null",
      "[]",
      '"x"',
      '{"scripts":5,"dependencies":[]}',
      '{"__proto__":{"x":1}}',
      "\0\xff",
      "[".repeat(100_000),
    ]) {
      const { id, send, scan } = await scene();
      await send(
        id,
        tarGz(
          ["package.json", "compose.yaml", "pyproject.toml", "deno.json", "Procfile", ".env.example"].map((name) =>
            file(name, text),
          ),
        ),
      );
      expect([text.slice(0, 20), (await scan(id)).status]).toEqual([text.slice(0, 20), 200]);
    }
  });

  test("requires a session that has not expired", async () => {
    const { app, id, send, scan } = await scene();
    await send(id, GOOD);
    app.world.clock.advance(HOUR);
    expect((await scan(id)).body.code).toBe("upload_expired");
  });
});
