import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { uploadFailure } from "../../adapters/local/storage_failure.ts";
import { LocalUploadFiles } from "../../adapters/local/upload_files.ts";
import type { Failure } from "../../domain/failure.ts";
import { eventually } from "../support/eventually.ts";
import { hostileArchives } from "../support/inputs/hostile_archives.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { file, folder, link, pax, streamOf, tarGz } from "../support/inputs/tar_archive.ts";

const limits = { maxBytes: 50_000_000, maxUnpackedBytes: 200_000_000, maxEntries: 100_000 };
const ID = "upl_0123456789abcdefghij";

/** Everything below a folder with its mode, size and modification time. */
async function snapshot(root: string) {
  const names = (await readdir(root, { recursive: true })).toSorted();
  const found = await Promise.all(names.map((name) => lstat(join(root, name))));
  return names.map((name, index) => [name, found[index]!.mode, found[index]!.size, found[index]!.mtimeMs]);
}

const input = randomInput("uploads on the disk");

/** Incompressible bytes. */
function noise(bytes: number): Uint8Array {
  return input.bytes(bytes);
}

describe("LocalUploadFiles on the disk", () => {
  let world: string;
  let uploads: string;
  let files: LocalUploadFiles;

  beforeAll(async () => {
    world = await realpath(await mkdtemp(join(tmpdir(), "slipway-")));
    uploads = join(world, "data", "uploads");
    files = new LocalUploadFiles(uploads);
  });
  afterAll(() => rm(world, { recursive: true, force: true }));

  const receive = (bytes: Uint8Array, id = ID) => files.receive(id, streamOf(bytes), { limits });
  const tree = (...parts: string[]) => join(uploads, ID, "tree", ...parts);
  test("receive() leaves nothing behind and touches nothing outside for every refused archive", async () => {
    await mkdir(join(world, "data", "neighbour"), { recursive: true });
    await writeFile(join(world, "data", "neighbour", "evil"), "untouched");
    await writeFile(join(world, "data", "evil"), "untouched");
    await mkdir(uploads, { recursive: true });
    await utimes(uploads, 1, 1);
    const before = await snapshot(join(world, "data"));
    for (const { what, code, bytes } of hostileArchives) {
      const error = await receive(bytes).catch((reason: unknown) => reason);
      expect([what, (error as Failure).code]).toEqual([what, code]);
      expect(await readdir(uploads)).toEqual([]);
    }
    await utimes(uploads, 1, 1);
    expect(await snapshot(join(world, "data"))).toEqual(before);
    expect(await Bun.file("/tmp/slipway-evil").exists()).toBe(false);
  });

  test("receive() keeps nothing of a refused upload next to an earlier one", async () => {
    await receive(tarGz([file("kept")]));
    await receive(tarGz([file("a"), file("../evil")])).catch(() => {});
    expect(await readdir(join(uploads, ID))).toEqual(["tree"]);
    await receive(tarGz([file("new")]));
    expect(await readdir(join(uploads, ID))).toEqual(["tree"]);
    expect(await readdir(tree())).toEqual(["new"]);
  });

  test("receive() keeps only the executable bit of modes, regardless of the mask", async () => {
    const mask = process.umask(0o077);
    try {
      await receive(
        tarGz([
          { ...folder("d"), mode: 0o7777 },
          { ...file("setuid"), mode: 0o6755 },
          { ...file("closed"), mode: 0o000 },
          { ...file("d/open", "x".repeat(300_000)), mode: 0o666 },
          { ...file("d/large-script", "x".repeat(300_000)), mode: 0o100 },
        ]),
      );
    } finally {
      process.umask(mask);
    }
    const mode = async (path: string) => ((await stat(tree(path))).mode & 0o7777).toString(8);
    expect(await mode("")).toBe("755");
    expect(await mode("d")).toBe("755");
    expect(await mode("setuid")).toBe("755");
    expect(await mode("closed")).toBe("644");
    expect(await mode("d/open")).toBe("644");
    expect(await mode("d/large-script")).toBe("755");
    expect((await stat(tree("setuid"))).uid).toBe(process.getuid!());
  });

  test("receive() refuses an id that could be a path, and other calls find nothing for one", async () => {
    for (const id of ["", ".", "..", "../neighbour", "a/b", "a\0b", "/etc", "-rf", "a".repeat(200)]) {
      const error = await receive(tarGz([file("a")]), id).catch((reason: unknown) => reason);
      expect((error as Failure).kind).toBe("invalid");
      expect(await Array.fromAsync(files.list(id))).toEqual([]);
      expect(await files.read(id, "evil", { maxBytes: 100 })).toBeUndefined();
      await files.discard(id);
    }
    expect(await readdir(join(world, "data", "neighbour"))).toEqual(["evil"]);
  });

  test("receive() refuses a name that is too long for the disk", async () => {
    const path = `${"d".repeat(255)}/`.repeat(15) + "d".repeat(250);
    const error = await receive(tarGz([pax({ path }), file("x")]), "upl_long").catch((reason: unknown) => reason);
    expect((error as Failure).code).toBe("archive_name_refused");
    expect((error as Failure).message).not.toContain(uploads);
    expect(await readdir(uploads)).not.toContain("upl_long");
  });

  test("receive() of a very deep tree can be listed, read and discarded", async () => {
    const path = `${"d/".repeat(255)}f`;
    await receive(tarGz([pax({ path }), file("x", "deep")]));
    expect((await Array.fromAsync(files.list(ID))).length).toBe(256);
    expect(Buffer.from((await files.read(ID, path, { maxBytes: 10 }))!).toString()).toBe("deep");
    await files.discard(ID);
    expect(await readdir(uploads)).toEqual([]);
  });

  test("receive() and discard() at the same time leave nothing incomplete", async () => {
    const bytes = tarGz([...Array(300).keys()].map((index) => file(`d${index % 20}/f${index}`)));
    for (let round = 0; round < 20; round++) {
      const receiving = receive(bytes).then(
        () => "kept",
        (error: unknown) => (error as Failure).code,
      );
      await Bun.sleep(round % 7);
      await files.discard(ID);
      expect(["kept", "upload_discarded"]).toContain(await receiving);
      const left = (await Array.fromAsync(files.list(ID))).filter(({ type }) => type === "file").length;
      expect([0, 300]).toContain(left);
      await files.discard(ID);
      expect(await readdir(uploads)).toEqual([]);
    }
  });

  test("discard() and stored() include the remains of an upload whose process died", async () => {
    await mkdir(join(uploads, "upl_dead", "1234.part", "d"), { recursive: true });
    await writeFile(join(uploads, "upl_dead", "1234.part", "d", "f"), "x");
    await writeFile(join(uploads, "stray file"), "x");
    expect((await Array.fromAsync(files.stored())).map(({ id }) => id)).toEqual(["upl_dead"]);
    expect(await Array.fromAsync(files.list("upl_dead"))).toEqual([]);
    await files.discard("upl_dead");
    expect(await Array.fromAsync(files.stored())).toEqual([]);
    await rm(join(uploads, "stray file"));
  });

  test("read() does not follow a link out of the folder that was added later", async () => {
    await receive(tarGz([file("a"), folder("d")]));
    await writeFile(join(world, "secret"), "secret");
    await symlink(join(world, "secret"), tree("absolute"));
    await symlink("../../../../../secret", tree("d", "relative"));
    await symlink(world, tree("folder"));
    for (const path of ["absolute", "d/relative", "folder/secret"]) {
      expect(await files.read(ID, path, { maxBytes: 100 })).toBeUndefined();
    }
  });

  test("read() and list() do not block on a pipe that was added later", async () => {
    await receive(tarGz([file("a")]));
    expect(Bun.spawnSync(["mkfifo", tree("pipe")]).exitCode).toBe(0);
    expect(await files.read(ID, "pipe", { maxBytes: 100 })).toBeUndefined();
    expect((await Array.fromAsync(files.list(ID))).map(({ path }) => path)).toEqual(["a"]);
  });

  test("receive() never stores a link that the kernel would follow out of the tree", async () => {
    const part = fc.constantFrom("a", "b", "c", ".", "..");
    const target = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
    const name = fc
      .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join("/"));
    const entry = fc.oneof(
      fc.record({ name, target }).map((made) => link(made.name, made.target)),
      name.map((path) => folder(path)),
    );
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 6 }), async (entries) => {
        const accepted = await receive(tarGz([file("first.txt"), ...entries])).then(
          () => true,
          () => false,
        );
        if (!accepted) return;
        kept++;
        for await (const { path, type } of files.list(ID)) {
          if (type !== "link") continue;
          const real = await realpath(tree(path)).catch((error: NodeJS.ErrnoException) => error.code);
          const inside = real === tree() || real?.startsWith(`${tree()}/`);
          expect([path, await readlink(tree(path)), inside || real === "ENOENT" || real === "ENOTDIR"]).toEqual([
            path,
            expect.any(String),
            true,
          ]);
        }
      }),
      { numRuns: 300 },
    );
    expect(kept).toBeGreaterThan(20);
  });

  describe("behind a server", () => {
    const outcomes: string[] = [];
    let settled = Promise.withResolvers<void>();
    let server: Bun.Server<undefined>;

    beforeAll(() => {
      server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        async fetch(request) {
          const outcome = await files
            .receive("upl_served", request.body!, { limits: { ...limits, maxBytes: 3_000_000 } })
            .then(
              ({ sha256 }) => sha256,
              (error: unknown) => (error as Failure).code,
            );
          outcomes.push(outcome);
          settled.resolve();
          return new Response(outcome);
        },
      });
    });
    afterAll(() => server.stop(true));

    test("receive() accepts the body of a request, sent whole or in chunks", async () => {
      const bytes = tarGz([file("a", noise(2_000_000))]);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      for (const body of [bytes, streamOf(bytes)]) {
        const answer = await fetch(server.url, { method: "POST", body });
        expect(await answer.text()).toBe(sha256);
      }
      await files.discard("upl_served");
    });

    test("receive() refuses a body beyond the limit while it is still being sent", async () => {
      const answer = await fetch(server.url, { method: "POST", body: tarGz([file("a", noise(20_000_000))]) });
      expect(await answer.text()).toBe("upload_too_large");
      expect(await readdir(uploads)).not.toContain("upl_served");
    });

    test("receive() keeps nothing when the client disconnects halfway", async () => {
      const bytes = tarGz([file("small"), file("a", noise(2_000_000))]);
      for (const head of [`Content-Length: ${bytes.length}`, "Transfer-Encoding: chunked"]) {
        settled = Promise.withResolvers<void>();
        const socket = await Bun.connect({ hostname: "127.0.0.1", port: server.port!, socket: { data() {} } });
        const half = bytes.subarray(0, 30_000);
        const framed = head.startsWith("Content") ? half : Buffer.concat([Buffer.from("7530\r\n"), half]);
        socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
        socket.write(framed);
        await eventually(
          () => readdir(uploads),
          (ids) => ids.includes("upl_served"),
        );
        socket.terminate();
        await settled.promise;
        expect(outcomes.at(-1)).toBe("upload_interrupted");
        expect(await readdir(uploads)).not.toContain("upl_served");
      }
    });
  });

  test("receive() turns errors of the disk into failures that hide its path", async () => {
    const blocked = join(world, "blocked");
    await writeFile(blocked, "a file where the folder should be");
    const cancelled = Promise.withResolvers<unknown>();
    const archive = new ReadableStream<Uint8Array>({ cancel: (reason) => cancelled.resolve(reason) });
    const error = await new LocalUploadFiles(blocked)
      .receive(ID, archive, { limits })
      .catch((reason: unknown) => reason);
    expect([(error as Failure).kind, (error as Failure).code]).toEqual(["unavailable", "storage_failed"]);
    expect((error as Failure).message).not.toContain(world);
    await cancelled.promise;
  });

  test.each([
    ["ENOSPC", "unavailable", "storage_full"],
    ["EDQUOT", "unavailable", "storage_full"],
    ["EIO", "unavailable", "storage_failed"],
    ["ENOENT", "conflict", "upload_discarded"],
    ["ENAMETOOLONG", "invalid", "archive_name_refused"],
    ["EEXIST", "invalid", "archive_conflict"],
  ])("uploadFailure() explains %s", (code, kind, word) => {
    const error = Object.assign(new Error("/the/path"), { code });
    const failure = uploadFailure("accept the upload", error) as Failure;
    expect([failure.kind, failure.code, failure.cause]).toEqual([kind as Failure["kind"], word, error]);
    expect(failure.message).toMatch(/^Cannot accept the upload: [^/]+$/);
  });

  test("receive() does not fill the memory with what it unpacks or refuses", async () => {
    const script = join(import.meta.dir, "../support/apps/receive_bomb.ts");
    const size = 500 * 1024 * 1024;
    for (const [limit, outcome] of [
      [2 * size, "1 files"],
      [size, "upload_unpacks_too_large"],
    ] as const) {
      const child = Bun.spawn([process.execPath, script, String(size), String(limit)], { stderr: "inherit" });
      const result = JSON.parse(await child.stdout.text()) as { outcome: string; growth: number };
      expect(result.outcome).toBe(outcome);
      expect(result.growth).toBeLessThan(150_000_000);
    }
  });
});
