import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalUploadFiles } from "../../adapters/local/upload_files.ts";
import type { Failure } from "../../domain/failure.ts";

const limits = { maxBytes: 50_000_000, maxUnpackedBytes: 200_000_000, maxEntries: 10_000 };
const LONG = `${"long-folder-name/".repeat(12)}${"n".repeat(200)}.txt`;
const SHORT = { "a.txt": "a", "src/main.ts": "console.log(1)", "bin/run": "#!/bin/sh\n", empty: "" };
const ALL = {
  ...SHORT,
  [LONG]: "long",
  "ünïcödé/日本語 🚀.txt": "unicode",
  "Icon\r": "mac",
  large: "x".repeat(3_000_000),
};

describe("archives of the tar program", () => {
  let world: string;
  let source: string;
  let files: LocalUploadFiles;

  beforeAll(async () => {
    world = await mkdtemp(join(tmpdir(), "slipway-"));
    source = join(world, "source");
    files = new LocalUploadFiles(join(world, "uploads"));
    for (const [path, content] of Object.entries(ALL)) {
      await mkdir(join(source, path, ".."), { recursive: true });
      await writeFile(join(source, path), content);
    }
    await chmod(join(source, "bin/run"), 0o755);
    await symlink("../src/main.ts", join(source, "bin/link"));
    await symlink(`../${LONG}`, join(source, "bin/long-link"));
    await mkdir(join(source, "empty-folder"));
  });
  afterAll(() => rm(world, { recursive: true, force: true }));

  async function packed(...options: string[]): Promise<ReadableStream<Uint8Array>> {
    const archive = join(world, `${crypto.randomUUID()}.tar.gz`);
    const tar = Bun.spawn(["tar", "-C", source, "-czf", archive, ...options], { stderr: "pipe" });
    expect([await tar.exited, await tar.stderr.text()]).toEqual([0, ""]);
    return Bun.file(archive).stream();
  }

  /** The error message that refuses an archive. */
  async function refused(...options: string[]): Promise<string> {
    return files.receive("upl_refused", await packed(...options), { limits }).then(
      () => "taken",
      (error: unknown) => (error as Failure).message,
    );
  }

  async function expectSame(id: string, expected: Record<string, string>): Promise<void> {
    for (const [path, content] of Object.entries(expected)) {
      const read = await files.read(id, path, { maxBytes: 10_000_000 });
      expect([path, Buffer.from(read ?? "absent").toString() === content]).toEqual([path, true]);
    }
  }

  for (const format of ["gnu", "oldgnu", "pax", "posix"]) {
    test(`receive() accepts everything that tar packs in the ${format} format`, async () => {
      const id = `upl_${format}`;
      const received = await files.receive(id, await packed(`--format=${format}`, "."), { limits });
      expect(received.files).toBe(Object.keys(ALL).length);
      await expectSame(id, { ...ALL, "bin/link": SHORT["src/main.ts"], "bin/long-link": "long" });
      const listed = (await Array.fromAsync(files.list(id))).map(({ path, type }) => `${type} ${path}`);
      expect(listed).toContain("folder empty-folder");
      expect(listed).toContain("link bin/link");
      // The same tree to the last byte, as compared by `diff`.
      const diff = Bun.spawnSync(["diff", "-r", "--no-dereference", source, join(world, "uploads", id, "tree")]);
      expect([diff.exitCode, diff.stdout.toString()]).toEqual([0, ""]);
    });
  }

  for (const format of ["ustar", "v7"]) {
    test(`receive() accepts what tar packs in the ${format} format`, async () => {
      const id = `upl_${format}`;
      const received = await files.receive(id, await packed(`--format=${format}`, ...Object.keys(SHORT)), { limits });
      expect(received.files).toBe(Object.keys(SHORT).length);
      await expectSame(id, SHORT);
    });
  }

  test("receive() accepts an archive with recorded ownership, times and attributes", async () => {
    const archive = await packed(
      "--format=pax",
      "--xattrs",
      "--numeric-owner",
      "--owner=4000000:4000000",
      "-b",
      "2000",
      "a.txt",
    );
    await files.receive("upl_noted", archive, { limits });
    await expectSame("upl_noted", { "a.txt": "a" });
  });

  test("receive() refuses hard links and sparse files, and says how to pack instead", async () => {
    const twice = join(source, "twice");
    await mkdir(twice);
    expect(Bun.spawnSync(["ln", join(source, "a.txt"), join(twice, "hard")]).exitCode).toBe(0);
    expect(Bun.spawnSync(["truncate", "-s", "1M", join(twice, "sparse")]).exitCode).toBe(0);
    expect(await refused("a.txt", "twice/hard")).toContain("--hard-dereference");
    expect(await refused("--format=gnu", "-S", "twice/sparse")).toContain("--sparse");
    expect(await refused("--format=pax", "-S", "twice/sparse")).toContain("--sparse");
    expect(await refused("--hard-dereference", "a.txt", "twice")).toBe("taken");
    await rm(twice, { recursive: true });
  });

  test("receive() refuses names that tar packed with -P", async () => {
    const archive = await packed("-P", join(source, "a.txt"));
    const error = await files.receive("upl_absolute", archive, { limits }).catch((reason: unknown) => reason);
    expect((error as Failure).code).toBe("archive_name_refused");
    expect(await readFile(join(source, "a.txt"), "utf8")).toBe("a");
  });
});
