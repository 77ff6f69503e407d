import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LocalReleaseFolders } from "../../adapters/local/release_folders.ts";
import { MemoryReleaseFolders } from "../../adapters/memory/release_folders.ts";
import { file, streamOf, tar } from "../support/inputs/tar_archive.ts";
import { releaseFoldersContract } from "../contracts/release_folders.ts";

releaseFoldersContract("memory", async () => {
  const folders = new MemoryReleaseFolders();
  return {
    folders,
    write: async (folder, path, content) => folders.write(folder, path, content),
    link: async (folder, path, target) => folders.tree(folder).link(path, target),
    makeFolder: async (folder, path) => folders.tree(folder).folder(path),
    chmod: async (folder, path, mode) => folders.tree(folder).chmod(path, mode),
    async [Symbol.asyncDispose]() {},
  };
});

releaseFoldersContract("local", async () => {
  const root = await mkdtemp(join(tmpdir(), "slipway-"));
  return {
    folders: new LocalReleaseFolders(join(root, "releases")),
    async write(folder, path, content) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    },
    link: (folder, path, target) => symlink(target, join(folder, path)),
    makeFolder: async (folder, path) => void (await mkdir(join(folder, path), { recursive: true })),
    chmod: (folder, path, mode) => chmod(join(folder, path), mode),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
});

describe("LocalReleaseFolders on the disk", () => {
  let root: string;
  let folders: LocalReleaseFolders;
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "slipway-")));
    folders = new LocalReleaseFolders(join(root, "releases"));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const finished = async (id: string) => {
    const folder = await folders.make(id);
    await writeFile(join(folder, "a"), "a");
    await folders.finish(id);
    return folder;
  };

  test("find() does not mistake a file of the build for the mark of a finished folder", async () => {
    const folder = await folders.make("dep_forged");
    await writeFile(join(folder, "finished"), "");
    expect(await folders.find("dep_forged")).toEqual({ path: folder, finished: false });
  });

  test("find() finds the folders of earlier versions, which had a fixed path for their tree", async () => {
    const home = join(root, "releases/dep_earlier");
    await mkdir(join(home, "tree"), { recursive: true });
    await writeFile(join(home, "finished"), "");
    expect(await folders.find("dep_earlier")).toEqual({ path: join(home, "tree"), finished: true });
  });

  test("find() returns nothing after a kill during a removal, and list() still returns the id", async () => {
    await finished("dep_killed");
    const left = "dep_killed.01234567-89ab-cdef-0123-456789abcdef.removed";
    await rename(join(root, "releases/dep_killed"), join(root, "releases", left));
    expect(await folders.find("dep_killed")).toBeUndefined();
    expect(await Array.fromAsync(folders.list())).toContain("dep_killed");
    await folders.remove("dep_killed");
    expect(await readdir(join(root, "releases"))).not.toContain(left);
    expect(await Array.fromAsync(folders.list())).not.toContain("dep_killed");
  });

  test("list() returns each id once and skips other files", async () => {
    const other = new LocalReleaseFolders(join(root, "other"));
    expect(await Array.fromAsync(other.list())).toEqual([]);
    await other.make("dep_a");
    await mkdir(join(root, "other/dep_a.01234567-89ab-cdef-0123-456789abcdef.removed"));
    await writeFile(join(root, "other/.hidden"), "");
    expect(await Array.fromAsync(other.list())).toEqual(["dep_a"]);
  });

  test("remove() removes protected and deep folders, and nothing that links point to", async () => {
    await writeFile(join(root, "outside"), "kept");
    const folder = await finished("dep_protected");
    const deep = join(folder, ...Array.from({ length: 200 }, () => "d"));
    await mkdir(deep, { recursive: true });
    await mkdir(join(folder, "closed/inner"), { recursive: true });
    await writeFile(join(folder, "closed/inner/file"), "", { mode: 0o400 });
    await symlink(join(root, "outside"), join(folder, "link"));
    await symlink(root, join(folder, "closed/up"));
    await chmod(join(folder, "closed/inner"), 0o555);
    await chmod(join(folder, "closed"), 0o000);
    await folders.remove("dep_protected");
    expect(await readdir(join(root, "releases"))).not.toContain("dep_protected");
    expect(await readFile(join(root, "outside"), "utf8")).toBe("kept");
  });

  test("remove() works while a program still writes into the folder", async () => {
    const folder = await finished("dep_busy");
    const writing = new AbortController();
    const writer = (async () => {
      for (let count = 0; !writing.signal.aborted; count++) {
        await mkdir(join(folder, `d${count}`)).catch(() => {});
        await writeFile(join(folder, `d${count}`, "f"), "").catch(() => {});
      }
    })();
    await folders.remove("dep_busy");
    writing.abort();
    await writer;
    expect((await readdir(join(root, "releases"))).filter((name) => name.startsWith("dep_busy"))).toEqual([]);
  });

  test("copy() keeps modes and links unchanged, and copies no pipe", async () => {
    const folder = await finished("dep_from");
    await mkdir(join(folder, "bin"));
    await writeFile(join(folder, "bin/run"), "#!/bin/sh", { mode: 0o755 });
    await writeFile(join(folder, "bin/locked"), "x", { mode: 0o444 });
    await symlink("/usr/bin/env", join(folder, "bin/env"));
    await symlink("../nowhere", join(folder, "bin/dangling"));
    expect(Bun.spawnSync(["mkfifo", join(folder, "pipe")]).exitCode).toBe(0);
    const to = await folders.make("dep_to");
    expect(await folders.copy("dep_from", "dep_to")).toBe(true);
    expect((await readdir(to, { recursive: true })).toSorted()).toEqual([
      "a",
      "bin",
      "bin/dangling",
      "bin/env",
      "bin/locked",
      "bin/run",
    ]);
    expect(await readlink(join(to, "bin/env"))).toBe("/usr/bin/env");
    expect(await readlink(join(to, "bin/dangling"))).toBe("../nowhere");
    expect(((await lstat(join(to, "bin/run"))).mode & 0o777).toString(8)).toBe("755");
    expect(((await lstat(join(to, "bin/locked"))).mode & 0o777).toString(8)).toBe("444");
  });

  test("digest() does not depend on modification times, and skips pipes", async () => {
    const folder = await finished("dep_timed");
    const before = await folders.digest("dep_timed", "");
    await utimes(join(folder, "a"), 1, 1);
    expect(Bun.spawnSync(["mkfifo", join(folder, "pipe")]).exitCode).toBe(0);
    expect(await folders.digest("dep_timed", "")).toEqual(before!);
    expect(await folders.digest("dep_timed", "pipe")).toBeUndefined();
  });

  test("digest() of a large file takes little memory", async () => {
    const folder = await folders.make("dep_large");
    const bytes = 400 * 1_024 ** 2;
    await writeFile(join(folder, "large"), "");
    await truncate(join(folder, "large"), bytes);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, process.memoryUsage.rss() - before)), 5);
    const digest = (await folders.digest("dep_large", "large"))!.digest;
    clearInterval(watching);
    expect(most).toBeLessThan(bytes / 4);
    await truncate(join(folder, "large"), bytes + 1);
    expect((await folders.digest("dep_large", "large"))!.digest).not.toBe(digest);
  });

  test("place() follows no link on the path to its target", async () => {
    await mkdir(join(root, "machine/inner"), { recursive: true });
    await writeFile(join(root, "machine/inner/kept"), "kept");
    const folder = await folders.make("dep_over_link");
    await mkdir(join(folder, "own"));
    await symlink(join(root, "machine"), join(folder, "own/out"));
    const built = tar([file("dist/index.html", "built")]);
    for (const path of ["own/out/inner", "own/out/inner/deep/er", "own/../../escaped"]) {
      await expect(folders.place("dep_over_link", path, streamOf(built))).rejects.toMatchObject({
        code: "link_outside",
      });
    }
    expect(await readdir(join(root, "machine/inner"))).toEqual(["kept"]);
    await folders.place("dep_over_link", "own/out", streamOf(built));
    expect(await readdir(join(folder, "own/out"))).toEqual(["index.html"]);
    expect(await readdir(join(root, "machine/inner"))).toEqual(["kept"]);
  });

  test("copy() follows no link that replaces a file or folder meanwhile", async () => {
    await mkdir(join(root, "host"));
    await writeFile(join(root, "host/secret"), "host secret");
    const folder = await finished("dep_swapping");
    for (let count = 0; count < 40; count++) await mkdir(join(folder, `d${count}`));
    for (let count = 0; count < 40; count++) await writeFile(join(folder, `d${count}`, "secret"), "own");
    const swapping = new AbortController();
    const swapper = (async () => {
      for (let count = 0; !swapping.signal.aborted; count = (count + 1) % 40) {
        const place = join(folder, `d${count}`);
        await rename(place, `${place}.away`).catch(() => {});
        await symlink(join(root, "host"), place).catch(() => {});
        await rm(place).catch(() => {});
        await rename(`${place}.away`, place).catch(() => {});
      }
    })();
    for (let turn = 0; turn < 15; turn++) {
      const to = await folders.make("dep_swapped");
      await folders.copy("dep_swapping", "dep_swapped");
      for (const name of await readdir(to)) {
        if (!(await lstat(join(to, name))).isDirectory()) continue;
        const copied = await readFile(join(to, name, "secret"), "utf8").catch(() => "own");
        expect(copied).toBe("own");
      }
    }
    swapping.abort();
    await swapper;
  });
});
