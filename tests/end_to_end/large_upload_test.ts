import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createGzip } from "node:zlib";
import { eventually } from "../support/eventually.ts";
import { OpenRequest, type RawAnswer } from "../support/servers/http_client.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { file, tarEntry, tarGz } from "../support/inputs/tar_archive.ts";
import { type TestDatabase, testDatabase } from "../support/database/test_database.ts";

const MB = 2 ** 20;

/** A gzipped tar with one file of random, incompressible bytes, generated on demand. */
async function* largeArchive(megabytes: number): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: 0, chunkSize: 256 * 1_024 });
  const header = tarEntry({ name: "large.bin", size: megabytes * MB });
  async function* content() {
    yield header;
    const noise = randomInput("a large archive");
    const block = noise.bytes(MB);
    for (let count = 0; count < megabytes; count++) {
      // Makes each block differ from the previous one, at little cost.
      noise.fill(block.subarray((count % 16) * 65_536, ((count % 16) + 1) * 65_536));
      yield block.slice();
    }
    yield new Uint8Array(1_024);
  }
  const writing = (async () => {
    for await (const chunk of content()) {
      if (!gzip.write(chunk)) await new Promise((resolve) => gzip.once("drain", resolve));
    }
    gzip.end();
  })();
  for await (const chunk of gzip) yield chunk as Uint8Array;
  await writing;
}

/** How to send a body. */
interface Sending {
  readonly chunked: boolean;
  readonly server?: SlipwayProcess;
  readonly connection?: "close" | "keep-alive";
}

function randomFolder(size: number): Uint8Array {
  return tarGz([file("index.html", randomInput("a folder").bytes(size))]);
}

/** The memory (RSS) of a process in MB. */
function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1_024;
}

describe("an upload", () => {
  let database: TestDatabase;
  let slipway: SlipwayProcess;

  beforeAll(async () => {
    database = await testDatabase();
    slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
  });

  afterAll(async () => {
    await slipway?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  async function session(server = slipway) {
    const { body } = await server.call("POST", "/api/projects/folder/session", { token: server.owner, body: {} });
    const id = body.sessionId as string;
    return { id, path: `/api/projects/folder/upload/${id}`, home: join(server.folder, "uploads", id) };
  }

  /** Sends a whole body, with Content-Length or chunked. */
  async function send(
    path: string,
    archive: Uint8Array,
    { chunked, server = slipway, connection = "close" }: Sending,
  ): Promise<RawAnswer> {
    const head = { path, token: server.owner, headers: { connection }, ...(!chunked && { length: archive.length }) };
    using request = await OpenRequest.open(server.address, head);
    for (let at = 0; at < archive.length; at += 40_000) await request.write(archive.subarray(at, at + 40_000));
    await request.finish();
    return await request.answer();
  }

  test("of 300 MB needs little memory, and its hash is correct", async () => {
    const small = await session();
    await send(small.path, tarGz([file("index.html")]), { chunked: true });
    const before = memoryOf(slipway.program.pid);
    let most = before;
    const { path, home } = await session();
    const hash = new Bun.CryptoHasher("sha256");
    let bytes = 0;
    using request = await OpenRequest.open(slipway.address, { path, token: slipway.owner });
    for await (const chunk of largeArchive(300)) {
      hash.update(chunk);
      bytes += chunk.length;
      await request.write(chunk);
      most = Math.max(most, memoryOf(slipway.program.pid));
    }
    await request.finish();
    const { status, body } = await request.answer();
    expect({ status, body }).toEqual({
      status: 200,
      body: { success: true, bytes, files: 1, sha256: hash.digest("hex") },
    });
    expect(bytes).toBeGreaterThan(300 * MB);
    expect(most - before).toBeLessThan(150);
    expect((await stat(join(home, "tree/large.bin"))).size).toBe(300 * MB);
    expect(await readdir(home)).toEqual(["tree"]);
  });

  test("that is cut halfway leaves nothing, and can be sent again", async () => {
    const archive = randomFolder(2 * MB);
    for (const length of [{ length: archive.length }, {}]) {
      const { path, home } = await session();
      const request = await OpenRequest.open(slipway.address, { path, token: slipway.owner, ...length });
      await request.write(archive.subarray(0, MB));
      const parts = () => readdir(home).catch(() => []);
      expect(await eventually(parts, (names) => names.length > 0)).toHaveLength(1);
      request.cut();
      expect(await eventually(parts, (names) => names.length === 0)).toEqual([]);
      const again = await eventually(
        () => send(path, archive, { chunked: true }),
        ({ status }) => status !== 409,
      );
      expect(again).toMatchObject({ status: 200, body: { bytes: archive.length } });
    }
  });

  test.each([true, false])("gets the same response chunked (%p) or announced", async (chunked) => {
    const archive = randomFolder(500_000);
    const { path } = await session();
    const sha256 = new Bun.CryptoHasher("sha256").update(archive).digest("hex");
    const { status, body } = await send(path, archive, { chunked });
    expect({ status, body }).toEqual({ status: 200, body: { success: true, bytes: archive.length, files: 1, sha256 } });
  });

  test.each([true, false])("of no bytes, chunked %p, is refused with 400", async (chunked) => {
    const { path } = await session();
    const answer = await send(path, new Uint8Array(), { chunked });
    expect(answer).toMatchObject({ status: 400, body: { success: false, code: "upload_empty" } });
    expect((await send(path, tarGz([file("index.html")]), { chunked })).status).toBe(200);
  });

  test("over the limit is refused with 413, announced or not, and leaves nothing", async () => {
    await using empty = await testDatabase();
    await using limited = await SlipwayProcess.start({ DATABASE_URL: empty.url, UPLOAD_MAX_BYTES: "100000" });
    for (const chunked of [true, false]) {
      for (const size of [100_000, 390_000]) {
        const { path: place, home } = await session(limited);
        const { status, body } = await send(place, randomFolder(size), { chunked, server: limited });
        expect({ status, body }).toEqual({
          status: 413,
          body: { success: false, error: expect.stringContaining("100000 bytes"), code: "upload_too_large" },
        });
        expect(await readdir(home).catch(() => [])).toEqual([]);
        const fitting = await send(place, randomFolder(90_000), { chunked, server: limited });
        expect(fitting).toMatchObject({ status: 200, body: { files: 1 } });
      }
    }
    // The response must arrive even while the rest of the body is in flight, whatever happens to the connection then.
    const { path } = await session(limited);
    for (let round = 0; round < 20; round++) {
      const connection = round % 4 < 2 ? "close" : "keep-alive";
      const answer = await send(path, randomFolder(5 * MB), { chunked: round % 2 === 0, server: limited, connection });
      expect(answer).toMatchObject({ status: 413, body: { success: false } });
    }
    // The upload limit does not apply to other bodies.
    const upserts = Array.from({ length: 20 }, (_, index) => ({ key: `KEY_${index}`, value: "x".repeat(10_000) }));
    const token = limited.owner;
    const created = await limited.call("POST", "/api/projects", { token, body: { name: "Harbour" } });
    const changed = await limited.call("PATCH", `/api/projects/${created.body.data.id}/env`, {
      token,
      body: { upserts },
    });
    expect(changed.status).toBe(200);
  });
});
