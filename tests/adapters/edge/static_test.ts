import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openStatic } from "../../../adapters/edge/static_file.ts";
import { randomInput } from "../../support/inputs/random_input.ts";
import { rawConnection } from "../../support/servers/raw_http.ts";
import { runningEdge, type RunningEdge } from "../../support/servers/running_edge.ts";

const FILES = {
  "index.html": "home",
  "about.html": "about",
  "team/index.html": "team",
  "team/anna.html": "anna",
  "both.html": "both as page",
  "both/index.html": "both as folder",
  "style.css": "css",
  "app.js": "js",
  "with space ü.txt": "0123456789",
  ".env": "SECRET",
  ".git/config": "SECRET",
  "team/.hidden": "SECRET",
  ".well-known/security.txt": "contact",
  "empty.txt": "",
};

let folder: string;
let edge: RunningEdge;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slipway-"));
  await fill("site", FILES);
  await fill("site-private", { "secret.txt": "SECRET" });
  await symlink("../site-private/secret.txt", join(folder, "site/out.txt"));
  await symlink("../site-private", join(folder, "site/outdir"));
  await symlink("/etc/hostname", join(folder, "site/absolute.txt"));
  await symlink("style.css", join(folder, "site/inside.css"));
  await symlink(".env", join(folder, "site/env.txt"));
  await symlink("loop.txt", join(folder, "site/loop.txt"));
  await fill("errors", { "index.html": "home", "404.html": "custom missing" });
  await fill("spa", { "index.html": "home", "200.html": "the app", "404.html": "custom missing", "a.js": "js" });
  edge = runningEdge();
  for (const name of ["site", "errors", "spa", "gone"])
    await edge.put(`${name}.test`, { kind: "folder", path: join(folder, name) });
});
afterAll(async () => {
  await edge[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function fill(name: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name, path)), { recursive: true });
    await writeFile(join(folder, name, path), text);
  }
}

/** Status and body for a path that is sent verbatim. */
async function exactly(path: string, host = "site.test"): Promise<string> {
  using client = await rawConnection(edge.port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const answer = await client.closed;
  return `${answer.slice(9, 12)} ${answer.slice(answer.indexOf("\r\n\r\n") + 4)}`;
}

describe("EdgeServer serves a folder", () => {
  test.each([
    ["/", "home"],
    ["/?x=1", "home"],
    ["/index.html", "home"],
    ["/about", "about"],
    ["/about.html", "about"],
    ["/about/", "about"],
    ["/team", "team"],
    ["/team/", "team"],
    ["//team//", "team"],
    ["/team/anna", "anna"],
    ["/both", "both as page"],
    ["/both/", "both as folder"],
    ["/%61bout", "about"],
    ["/with%20space%20%C3%BC.txt", "0123456789"],
    ["/.well-known/security.txt", "contact"],
    ["/inside.css", "css"],
    ["/empty.txt", ""],
  ])("%s", async (path, text) => {
    expect(await exactly(path)).toBe(`200 ${text}`);
  });

  test.each([
    "/missing",
    "/style.css/",
    "/style.css/x",
    "/.env",
    "/%2eenv",
    "/.git/config",
    "/team/.hidden",
    "/env.txt",
    "/../site-private/secret.txt",
    "/..%2fsite-private%2fsecret.txt",
    "/%2e%2e/site-private/secret.txt",
    "/team/%2e%2e%2f%2e%2e/site-private/secret.txt",
    "/team/..\\..\\site-private/secret.txt",
    "/out.txt",
    "/outdir/secret.txt",
    "/absolute.txt",
    "/loop.txt",
    "/style.css%00.html",
    "/%",
    "/%ff%fe",
    `/${"a".repeat(300)}`,
    `/${"a/".repeat(3000)}`,
    "/team/../about",
  ])("without %s", async (path) => {
    const answer = await exactly(path);
    expect(answer).toStartWith("404 ");
    expect(answer).toContain("not_found");
    expect(answer).not.toContain("SECRET");
  });

  test("without its path prefix", async () => {
    await edge.edge.switch("prj_prefix", [
      {
        hostname: "prefix.test",
        pathPrefix: "/docs",
        projectId: "prj_prefix",
        servedBy: "dep_prefix",
        target: { kind: "folder", path: join(folder, "site") },
      },
    ]);
    expect(await exactly("/docs", "prefix.test")).toBe("200 home");
    expect(await exactly("/docs/team/anna", "prefix.test")).toBe("200 anna");
    expect(await exactly("/team/anna", "prefix.test")).toStartWith("404 ");
  });

  test("with its own page for missing paths", async () => {
    expect(await exactly("/missing", "errors.test")).toBe("404 custom missing");
    expect(await exactly("/.env", "errors.test")).toBe("404 custom missing");
    expect((await edge.ask("errors.test", "/missing")).headers.get("cache-control")).toBe("no-store");
  });

  test("with 200.html for every missing page, and no other missing file", async () => {
    expect(await exactly("/any/page", "spa.test")).toBe("200 the app");
    expect(await exactly("/", "spa.test")).toBe("200 home");
    expect(await exactly("/a.js", "spa.test")).toBe("200 js");
    expect(await exactly("/b.js", "spa.test")).toBe("404 custom missing");
  });

  test("that is gone with an error that does not show its path", async () => {
    const answer = await exactly("/", "gone.test");
    expect(answer).toStartWith("500 ");
    expect(answer).not.toContain(folder);
  });

  test("with content types, and to HEAD without content", async () => {
    for (const [path, type] of [
      ["/", "text/html"],
      ["/style.css", "text/css"],
      ["/app.js", "text/javascript"],
      ["/about", "text/html"],
    ] as const)
      expect((await edge.ask("site.test", path)).headers.get("content-type")).toStartWith(type);
    using client = await rawConnection(
      edge.port,
      "HEAD /about HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n",
    );
    expect(await client.closed).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Content-Length: 5\r\n[^]*\r\n\r\n$/);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS"])("only for reading, not %s", async (method) => {
    const answer = await edge.ask("site.test", "/", { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  test("with validators, and 304 for what the client already has", async () => {
    const first = await edge.ask("site.test", "/about");
    const tag = first.headers.get("etag") ?? "";
    const date = first.headers.get("last-modified") ?? "";
    for (const headers of [
      { "if-none-match": tag },
      { "if-none-match": `"x", W/${tag}` },
      { "if-none-match": "*" },
      { "if-modified-since": date },
    ]) {
      const again = await edge.ask("site.test", "/about", { headers });
      expect(again.status).toBe(304);
      expect(again.headers.get("etag")).toBe(tag);
      expect(await again.text()).toBe("");
    }
    for (const headers of [
      { "if-none-match": '"x"' },
      { "if-none-match": '"x"', "if-modified-since": date },
      { "if-modified-since": new Date(Date.parse(date) + 60_000).toUTCString() },
    ])
      expect((await edge.ask("site.test", "/about", { headers })).status).toBe(200);
  });

  test("with another validator for another file of the same size", async () => {
    await fill("errors", { "a.txt": "1111" });
    const before = (await edge.ask("errors.test", "/a.txt")).headers.get("etag");
    await fill("errors", { "a.txt": "2222" });
    expect((await edge.ask("errors.test", "/a.txt")).headers.get("etag")).not.toBe(before);
  });

  test.each([
    ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
    ["bytes=8-", 206, "89", "bytes 8-9/10"],
    ["bytes=8-100", 206, "89", "bytes 8-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=-30", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=-0", 416, "", "bytes */10"],
    ["bytes=5-2", 200, "0123456789", null],
    ["bytes=0-1,3-4", 200, "0123456789", null],
    ["lines=0-1", 200, "0123456789", null],
  ])("in parts: %s", async (range, status, text, contentRange) => {
    const answer = await edge.ask("site.test", "/with%20space%20%C3%BC.txt", { headers: { range } });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe(text);
    expect(answer.headers.get("content-range")).toBe(contentRange);
  });

  test("in parts only while the file is unchanged", async () => {
    const path = "/with%20space%20%C3%BC.txt";
    const tag = (await edge.ask("site.test", path)).headers.get("etag") ?? "";
    const ask = (condition: string) =>
      edge.ask("site.test", path, { headers: { range: "bytes=0-3", "if-range": condition } });
    expect((await ask(tag)).status).toBe(206);
    expect((await ask('"other"')).status).toBe(200);
  });

  test("with files of any size, even to a slow client", async () => {
    const large = randomInput("a large file").bytes(30_000_000);
    await writeFile(join(folder, "site/large.bin"), large);
    using client = await rawConnection(edge.port, "GET /large.bin HTTP/1.1\r\nHost: site.test\r\n\r\n");
    client.socket.pause();
    await Bun.sleep(100);
    client.socket.resume();
    const text = await client.until((all) => all.length > large.length);
    expect(Bun.hash(Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4), "latin1"))).toBe(Bun.hash(large));
    client.socket.destroy();
    await edge.edge.drained("dep_site.test", 60_000);
  });
});

describe("openStatic()", () => {
  test("follows no link that replaces a folder meanwhile", async () => {
    await fill("swapped", { "d/file.txt": "own" });
    await fill("machine", { "file.txt": "SECRET" });
    const [site, at] = [join(folder, "swapped"), join(folder, "swapped/d")];
    const swapping = new AbortController();
    const swapper = (async () => {
      while (!swapping.signal.aborted) {
        await rename(at, `${at}.away`);
        await symlink(join(folder, "machine"), at);
        await rm(at);
        await rename(`${at}.away`, at);
      }
    })();
    const read = async () => {
      await using file = await openStatic(site, "/d/file.txt");
      return file ? (await file.handle.readFile()).toString() : "own";
    };
    for (let turn = 0; turn < 300; turn++) {
      expect(new Set(await Promise.all(Array.from({ length: 16 }, read)))).toEqual(new Set(["own"]));
    }
    swapping.abort();
    await swapper;
  });
});
