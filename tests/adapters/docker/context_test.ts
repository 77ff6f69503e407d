import { describe, expect, test } from "bun:test";
import { appendFile, chmod, mkdir, rename, rm, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { buildContext } from "../../../adapters/docker/build/build_context.ts";
import { type ContextEntry, contentOf } from "../../../adapters/docker/build/context_entry.ts";
import { contextTar } from "../../../adapters/docker/build/context_tar.ts";
import { followPaths } from "../../../adapters/docker/build/follow_paths.ts";
import type { ImageRequest } from "../../../ports/deployments/image_builder.ts";
import { type Tree, writtenTree } from "../../support/peers/docker_images.ts";
import { failureOf } from "../../contracts/image_builder.ts";
import { filesOf } from "../../contracts/release_images.ts";

const signal = new AbortController().signal;
const OWN = { path: "Dockerfile" };
const MADE = { text: "FROM scratch" };

/** A folder that is removed on disposal. */
async function folderOf(tree: Tree) {
  const path = await writtenTree({ Dockerfile: "FROM scratch", ...tree });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function unexpected(reason: unknown): never {
  return expect.unreachable(`${reason}`);
}

/** The paths of a context. */
async function sent(tree: Tree, dockerfile: ImageRequest["dockerfile"] = OWN): Promise<string[]> {
  await using folder = await folderOf(tree);
  const { entries } = await buildContext({ folder: folder.path, dockerfile, signal });
  return entries.map(({ path }) => path);
}

describe("buildContext()", () => {
  test("lists each folder before its content, names in the order of their bytes", async () => {
    const names = ["a-b", "a.b", "a/z", "a/b/c", "Z", "\u{1F600}", "\uFFEE", "ä"];
    expect(await sent(Object.fromEntries(names.map((name) => [name, ""])))).toEqual([
      "Dockerfile",
      "Z",
      "a",
      "a/b",
      "a/b/c",
      "a/z",
      "a-b",
      "a.b",
      "ä",
      "\uFFEE",
      "\u{1F600}",
    ]);
  });

  test("keeps the properties of files, folders and links", async () => {
    await using folder = await folderOf({ "dir/run": "#!", link: { link: "dir/run" } });
    await chmod(join(folder.path, "dir/run"), 0o755);
    await utimes(join(folder.path, "dir/run"), 1_000, 1_234.5);
    const { entries } = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    expect(entries.slice(1)).toMatchObject([
      { path: "dir", kind: "folder", size: 0 },
      { path: "dir/run", kind: "file", size: 2, mode: 0o755, modifiedNs: 1_234_500_000_000n },
      { path: "link", kind: "link", size: 0, target: "dir/run" },
    ]);
  });

  test("leaves out ignored files, and folders that hold nothing else, but not empty ones", async () => {
    await using folder = await folderOf({
      ".dockerignore": "a\n!a/b/keep\nc\n!c/none\n",
      "a/b/keep": "",
      "a/x": "",
      "c/x": "",
    });
    await mkdir(join(folder.path, "empty"));
    const { entries } = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    expect(entries.map(({ path }) => path)).toEqual([".dockerignore", "Dockerfile", "a", "a/b", "a/b/keep", "empty"]);
  });

  test("prefers the rules beside the Dockerfile to those of the folder", async () => {
    const tree = { ".dockerignore": "a", "docker/web": "FROM scratch", "docker/web.dockerignore": "b", a: "", b: "" };
    expect(await sent(tree, { path: "docker/web" })).toContain("a");
    expect(await sent(tree, { path: "docker/web" })).not.toContain("b");
    expect(await sent(tree)).toContain("b");
    expect(await sent(tree, MADE)).not.toContain("a");
  });

  test("includes the git history unless it is excluded", async () => {
    const tree = { ".git/config": "", ".gitignore": "", "sub/.git": "gitdir" };
    expect(await sent(tree)).toEqual([".git", ".git/config", ".gitignore", "Dockerfile", "sub", "sub/.git"]);
    expect(await sent(tree, { ...MADE, without: [".git"] })).toEqual([".gitignore", "Dockerfile", "sub"]);
  });

  test.each<[string, Tree]>([
    ["an absolute link", { a: { link: "/etc/passwd" } }],
    ["a link up and out", { "a/b": { link: "../../x" } }],
    ["a link out through another", { a: { link: "b/../.." }, b: { link: "." } }],
    ["a link back into the folder from outside", { a: { link: "../x/../a" } }],
    ["a link out below an excepted folder", { ".dockerignore": "a\n!a/b", "a/b": { link: "/etc" } }],
    ["rules that lead out", { ".dockerignore": { link: "/etc/hostname" } }],
    ["rules of the Dockerfile that lead out", { "Dockerfile.dockerignore": { link: "../../etc/hostname" } }],
    ["a Dockerfile that leads out", { Dockerfile: { link: "/etc/hostname" } }],
    ["a Dockerfile that leads out through a folder", { Dockerfile: { link: "dir/hostname" }, dir: { link: "/etc" } }],
  ])("refuses %s", async (_, tree) => {
    await using folder = await folderOf(tree);
    const error = await failureOf(buildContext({ folder: folder.path, dockerfile: OWN, signal }));
    expect([error.kind, error.code]).toEqual(["invalid", "link_outside"]);
    expect(error.message).not.toContain(folder.path);
  });

  test.each<[string, Tree]>([
    ["a link to a neighbour", { "a/b": { link: "../c" }, c: "" }],
    ["a link to nothing", { a: { link: "nothing" } }],
    ["a link out that is ignored", { ".dockerignore": "a", a: { link: "/etc" } }],
    ["a link out in a folder that is ignored", { ".dockerignore": "a", "a/b": { link: "/etc" } }],
    ["a Dockerfile that is a link inside", { Dockerfile: { link: "docker/web" }, "docker/web": "FROM scratch" }],
  ])("accepts %s", async (_, tree) => {
    await using folder = await folderOf(tree);
    const { dockerfile } = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    expect(new TextDecoder().decode(dockerfile.bytes)).toBe("FROM scratch");
  });

  test("refuses a folder that is a link out of its required parent, with either kind of Dockerfile", async () => {
    await using outside = await folderOf({ secret: "of the machine" });
    await using folder = await folderOf({ "own/Dockerfile": "FROM scratch", in: { link: "own" } });
    await symlink(outside.path, join(folder.path, "out"));
    const within = folder.path;
    for (const dockerfile of [OWN, MADE]) {
      for (const path of ["out", "own/../out", ".."]) {
        const error = await failureOf(buildContext({ folder: join(within, path), within, dockerfile, signal }));
        expect([error.code, error.message.includes(outside.path)]).toEqual(["link_outside", false]);
      }
      for (const path of ["own", "in"]) {
        const { root } = await buildContext({ folder: join(within, path), within, dockerfile, signal });
        expect(root).toStartWith(within);
      }
    }
  });

  test.each(["", "/etc/hostname", "../Dockerfile", "a/../../b", "a\0b"])("refuses the path %j", async (path) => {
    await using folder = await folderOf({});
    const error = await failureOf(buildContext({ folder: folder.path, dockerfile: { path }, signal }));
    expect([error.kind, error.code]).toEqual(["invalid", "link_outside"]);
  });

  test("reports a missing Dockerfile, and one that is not a file", async () => {
    await using folder = await folderOf({ "dir/file": "" });
    for (const path of ["nothing", "dir", "dir/file/x"]) {
      const error = await failureOf(buildContext({ folder: folder.path, dockerfile: { path }, signal }));
      expect([error.code, error.message]).toEqual([
        "build_failed",
        `Cannot build: there is no file "${path}"; set dockerfile to its path`,
      ]);
    }
  });

  test("skips everything that is not a file, folder or link", async () => {
    await using folder = await folderOf({});
    await Bun.$`mkfifo ${join(folder.path, "pipe")}`;
    const { entries } = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    expect(entries.map(({ path }) => path)).toEqual(["Dockerfile"]);
  });

  test("stops when aborted", async () => {
    await using folder = await folderOf({});
    const reason = new Error("enough");
    const aborted = buildContext({ folder: folder.path, dockerfile: OWN, signal: AbortSignal.abort(reason) });
    expect(await aborted.catch((error: unknown) => error)).toBe(reason);
  });
});

describe("contentOf()", () => {
  const changes: [string, (file: string) => Promise<unknown>][] = [
    ["vanished", (file) => rm(file)],
    ["has grown", (file) => appendFile(file, "more")],
    ["was cut", (file) => Bun.write(file, "con")],
    ["was rewritten", (file) => Bun.write(file, "CONTENT")],
    ["was replaced", (file) => Bun.write(`${file}.new`, "content").then(() => rename(`${file}.new`, file))],
    ["became a link", (file) => rm(file).then(() => symlink("/etc/hostname", file))],
    ["became a folder", (file) => rm(file).then(() => mkdir(file))],
  ];

  test.each(changes)("fails for a file that %s after it was listed", async (_, change) => {
    await using folder = await folderOf({ file: "content" });
    const { root, entries } = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    const entry = entries.find(({ path }) => path === "file")!;
    await Bun.sleep(10);
    await change(join(folder.path, "file"));
    const error = await failureOf(Array.fromAsync(contentOf(root, entry)));
    expect([error.kind, error.code]).toEqual(["invalid", "context_changed"]);
    expect(error.message).toBe('Cannot build: "file" changed while it was sent to the build; deploy again');
  });

  test("reads files of every size completely", async () => {
    const sizes = [0, 1, 131_071, 131_072, 131_073, 400_000];
    const tree = Object.fromEntries(sizes.map((size) => [`f${size}`, new Uint8Array(size).fill(size % 251)]));
    await using folder = await folderOf(tree);
    const { root, entries } = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    for (const entry of entries.filter(({ path }) => path.startsWith("f"))) {
      let hash = new Bun.CryptoHasher("sha256");
      for await (const bytes of contentOf(root, entry)) hash = hash.update(bytes);
      expect(hash.digest("hex")).toBe(Bun.SHA256.hash(tree[entry.path] as Uint8Array, "hex"));
    }
  });
});

describe("contextTar()", () => {
  test("packs everything, with the Dockerfile under another name that is excluded from the context", async () => {
    await using folder = await folderOf({ "a/b": "content", link: { link: "a/b" } });
    const context = await buildContext({ folder: folder.path, dockerfile: MADE, signal });
    const { dockerfile, stream } = contextTar(context, unexpected);
    expect(await filesOf(stream)).toEqual({
      [dockerfile]: "FROM scratch",
      ".dockerignore": `${dockerfile}\n.dockerignore\n`,
      Dockerfile: "FROM scratch",
      "a/": null,
      "a/b": "content",
      link: null,
    });
  });

  test("keeps the existing rules, and picks an unused name", async () => {
    await using folder = await folderOf({ ".dockerignore": "x", ".slipway.Dockerfile": "mine" });
    const context = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    const { dockerfile, stream } = contextTar(context, unexpected);
    expect(dockerfile).toBe(".slipway.Dockerfile_");
    expect(await filesOf(stream)).toMatchObject({
      ".dockerignore": `x\n${dockerfile}\n`,
      ".slipway.Dockerfile": "mine",
      [dockerfile]: "FROM scratch",
    });
  });

  test("stops with the reason when a file changed", async () => {
    await using folder = await folderOf({ file: "content" });
    const context = await buildContext({ folder: folder.path, dockerfile: OWN, signal });
    await rm(join(folder.path, "file"));
    const reasons: unknown[] = [];
    const { stream } = contextTar(context, (reason) => reasons.push(reason));
    const error = await failureOf(filesOf(stream));
    expect(error.code).toBe("context_changed");
    expect(reasons).toEqual([error]);
  });
});

describe("followPaths()", () => {
  const tree: Record<string, string> = {
    jump: "far",
    "links/one": "../jump/away",
    "links/two": "one",
    "loop/a": "b",
    "loop/b": "a",
  };
  const folders = ["a", "a/b", "d", "far", "links", "loop"];
  const paths = [...folders, ...Object.keys(tree), "a/b/c", "a/x", "d/e", "far/away", "top"].sort();
  const entries = paths.map((path): ContextEntry => {
    const kind = folders.includes(path) ? "folder" : path in tree ? "link" : "file";
    return { path, kind, mode: 0, size: 0, modifiedNs: 0n, inode: 0n, target: tree[path] ?? "" };
  });

  test.each([
    [["top"], ["top"]],
    [["/a/b"], ["a", "a/b", "a/b/c"]],
    [
      ["a/b/", "./d//e"],
      ["a", "a/b", "a/b/c", "d", "d/e"],
    ],
    [["a/*"], ["a", "a/b", "a/b/c", "a/x"]],
    [
      ["nothing", "a/nothing", "top/x"],
      ["a", "top"],
    ],
    [["jump/away"], ["far", "far/away", "jump"]],
    [["links/two"], ["far", "far/away", "jump", "links", "links/one", "links/two"]],
    [["links"], ["far", "far/away", "jump", "links", "links/one", "links/two"]],
    [["loop/a"], ["loop", "loop/a", "loop/b"]],
    [["../../d"], ["d", "d/e"]],
  ])("%j needs %j", (wanted, expected) => {
    expect(followPaths(entries, wanted).map(({ path }) => path)).toEqual(expected);
  });

  test.each([[["."]], [["/"]], [[""]], [["*"]], [["top", "**/x"]]])("%j needs everything", (wanted) => {
    expect(followPaths(entries, wanted)).toEqual(entries);
  });
});
