import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FolderLimits, LocalFolderSources } from "../../../adapters/local/local_folder_sources.ts";
import { Failure } from "../../../domain/failure.ts";

describe("LocalFolderSources", () => {
  let root: string;
  let site: string;
  let folder: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "slipway-")));
    [site, folder] = [join(root, "site"), join(root, "site/.slipway/releases/dep/tree")];
    await mkdir(folder, { recursive: true });
  });
  afterEach(() => rm(root, { recursive: true }));

  const write = async (path: string, content = "x") => {
    await mkdir(dirname(join(site, path)), { recursive: true });
    await writeFile(join(site, path), content);
  };
  const fetch = (options: { path?: string; limits?: FolderLimits; signal?: AbortSignal; shared?: boolean } = {}) => {
    const { path = site, limits, signal = new AbortController().signal, shared = false } = options;
    const sources = new LocalFolderSources({ dataFolder: join(site, ".slipway"), ...(limits && { limits }) });
    return sources.fetch({ kind: "local", path }, { folder, signal, shared, log: () => {} });
  };
  const failureOf = async (...words: Parameters<typeof fetch>): Promise<Failure> => {
    const error: unknown = await fetch(...words).then(
      () => new Error("it succeeded"),
      (reason: unknown) => reason,
    );
    if (!(error instanceof Failure)) throw error;
    expect(error.message).not.toContain(root);
    return error;
  };

  test("fetch() shares no file with the folder, which may change at any time", async () => {
    await write("a", "then");
    await fetch({ shared: true });
    await writeFile(join(site, "a"), "now");
    expect(await readFile(join(folder, "a"), "utf8")).toBe("then");
  });

  test("fetch() leaves out git history, installed packages and the service's own data", async () => {
    for (const path of ["a", "d/b", ".git/HEAD", "node_modules/m", "d/node_modules/m", ".slipway/secret.key", ".env"]) {
      await write(path);
    }
    await fetch();
    expect((await readdir(folder, { recursive: true })).toSorted()).toEqual([".env", "a", "d", "d/b"]);
  });

  test("fetch() keeps content, the executable bit and links inside", async () => {
    await write("large", "0123456789".repeat(100_000));
    await writeFile(join(site, "run"), "#!/bin/sh", { mode: 0o755 });
    await write("d/f", "f");
    await symlink("../d/f", join(site, "d/up"));
    await symlink("not/there", join(site, "dangling"));
    await fetch();
    expect(await readFile(join(folder, "large"), "utf8")).toBe("0123456789".repeat(100_000));
    expect((await lstat(join(folder, "run"))).mode & 0o111).not.toBe(0);
    expect(await readFile(join(folder, "d/up"), "utf8")).toBe("f");
    expect((await lstat(join(folder, "dangling"))).isSymbolicLink()).toBe(true);
  });

  test.each(["/etc/passwd", "../outside", "d/../../outside", "loop"])(
    "fetch() refuses a link to %s",
    async (target) => {
      await write("d/f");
      await symlink(target, join(site, "loop"));
      const failure = await failureOf();
      expect([failure.kind, failure.code]).toEqual(["invalid", "source_link_refused"]);
      expect(await readdir(folder)).not.toContain("loop");
    },
  );

  test("fetch() refuses a pipe", async () => {
    expect(Bun.spawnSync(["mkfifo", join(site, "pipe")]).exitCode).toBe(0);
    const failure = await failureOf();
    expect([failure.kind, failure.code]).toEqual(["invalid", "source_entry_refused"]);
  });

  test("fetch() accepts a folder within its limits and refuses one more byte or entry", async () => {
    for (const path of ["a", "b", "d/c"]) await write(path, "12345");
    await fetch({ limits: { maxBytes: 15, maxEntries: 4 } });
    for (const limits of [
      { maxBytes: 14, maxEntries: 4 },
      { maxBytes: 15, maxEntries: 3 },
    ]) {
      await rm(folder, { recursive: true });
      await mkdir(folder);
      const failure = await failureOf({ limits });
      expect([failure.kind, failure.code]).toEqual(["too_large", "source_too_large"]);
    }
  });

  test("fetch() refuses the service's data, a file and a missing path", async () => {
    await write(".slipway/inner/x");
    await write("file");
    await symlink(join(site, ".slipway"), join(root, "link"));
    for (const path of [".slipway", ".slipway/inner", "../link"]) {
      expect((await failureOf({ path: join(site, path) })).code).toBe("local_source_refused");
    }
    for (const path of ["file", "not there"]) {
      expect((await failureOf({ path: join(site, path) })).code).toBe("local_source_gone");
    }
  });

  test("fetch() stops midway when aborted", async () => {
    for (let count = 0; count < 300; count++) await write(`d${count}/f`);
    const abort = new AbortController();
    const fetching = fetch({ signal: abort.signal });
    abort.abort(new Error("cancelled"));
    await expect(fetching).rejects.toThrow("cancelled");
    expect((await readdir(folder)).length).toBeLessThan(300);
  });
});
