import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LocalKeptSources } from "../../../adapters/local/kept_sources.ts";
import { MemoryKeptSources } from "../../../adapters/memory/kept_sources.ts";
import { MemoryTree } from "../../../adapters/memory/memory_tree.ts";
import { keptSourcesContract } from "../../contracts/kept_sources.ts";

keptSourcesContract("memory", async () => {
  const folders = new Map<string, MemoryTree>();
  const treeAt = (folder: string) => (MemoryKeptSources.owns(folder) ? kept.tree(folder) : folders.get(folder)!);
  const kept = new MemoryKeptSources(treeAt);
  return {
    kept,
    write: async (folder, path, content) => treeAt(folder).write(path, content),
    link: async (folder, path, target) => treeAt(folder).link(path, target),
    async newFolder() {
      const folder = `/folders/${folders.size}`;
      folders.set(folder, new MemoryTree());
      return folder;
    },
    async contentOf(folder) {
      const nodes = treeAt(folder).nodes();
      const shown = nodes.flatMap(([path, node]) => {
        if (node.kind === "folder") return [];
        return [[path, node.kind === "link" ? `-> ${node.target}` : node.content] as const];
      });
      return Object.fromEntries(shown);
    },
    async [Symbol.asyncDispose]() {},
  };
});

keptSourcesContract("local", async () => {
  const root = await mkdtemp(join(tmpdir(), "slipway-"));
  return {
    kept: new LocalKeptSources(join(root, "sources")),
    async write(folder, path, content) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    },
    link: (folder, path, target) => symlink(target, join(folder, path)),
    newFolder: () => mkdtemp(join(root, "folder-")),
    contentOf,
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
});

async function contentOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of await readdir(folder, { recursive: true })) {
    const entry = await lstat(join(folder, path));
    if (entry.isSymbolicLink()) found[path] = `-> ${await readlink(join(folder, path))}`;
    else if (entry.isFile()) found[path] = await readFile(join(folder, path), "utf8");
  }
  return found;
}

const fill = async (folder: string) => {
  await writeFile(join(folder, "run.sh"), "echo hi");
  await chmod(join(folder, "run.sh"), 0o755);
};

describe("LocalKeptSources on the disk", () => {
  let root: string;
  let kept: LocalKeptSources;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "slipway-"));
    kept = new LocalKeptSources(join(root, "sources"));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  test("share() takes no extra space: both have the same file, with its mode", async () => {
    await kept.keep("dep_from", fill);
    await kept.share("dep_from", "dep_to");
    const [from, to] = await Promise.all(
      ["dep_from", "dep_to"].map((id) => lstat(join(root, "sources", id, "run.sh"))),
    );
    expect([to!.ino, to!.mode & 0o777, to!.nlink]).toEqual([from!.ino, 0o755, 2]);
  });

  test("copyTo() makes separate copies of files, with their modes", async () => {
    await kept.keep("dep_own", fill);
    const folder = await mkdtemp(join(root, "folder-"));
    await kept.copyTo("dep_own", folder);
    const found = await lstat(join(folder, "run.sh"));
    expect([found.mode & 0o777, found.nlink]).toEqual([0o755, 1]);
  });

  test("keep() of files that are removed meanwhile fails with that reason", async () => {
    const keeping = kept.keep("dep_vanished", (folder) => rm(folder, { recursive: true }));
    expect(await keeping.catch((reason: unknown) => reason)).toMatchObject({
      kind: "conflict",
      code: "changed_meanwhile",
      message: "Cannot keep the source: a part of it was removed meanwhile; try again",
    });
  });

  test("the leftovers of a killed process are listed and removed with the rest", async () => {
    await kept.keep("dep_killed", fill);
    const aside = (ending: string) => join(root, `sources/dep_killed.01234567-89ab-cdef-0123-456789abcdef.${ending}`);
    await rename(join(root, "sources/dep_killed"), aside("removed"));
    await mkdir(aside("part"));
    expect(await kept.has("dep_killed")).toBe(false);
    expect((await Array.fromAsync(kept.list())).filter((id) => id === "dep_killed")).toHaveLength(1);
    await kept.remove("dep_killed");
    expect((await readdir(join(root, "sources"))).filter((name) => name.includes("killed"))).toEqual([]);
  });
});
