import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeRoute } from "../../ports/domains/edge.ts";
import { type CaddyEdgeSettings, caddyEdge } from "../support/servers/caddy_edge.ts";
import { rawApp } from "../support/servers/raw_http.ts";
import { at, runningTlsEdge } from "../support/servers/running_edge.ts";
import { temporaryPlace } from "../support/servers/slipway_process.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";

/** Response headers that have to be the same; all others are about the connection or the date. */
const COMPARED = [
  "accept-ranges",
  "allow",
  "cache-control",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
  "location",
  "retry-after",
  "server",
  "strict-transport-security",
  "vary",
  "x-content-type-options",
];

interface Asked {
  readonly host: string;
  readonly path?: string;
  readonly tls?: true;
  readonly init?: RequestInit;
}

/** The two edges with the same routes: `ask` sends a request through each of them. */
async function bothEdges(settings: CaddyEdgeSettings, routes: readonly EdgeRoute[]) {
  await using opened = new AsyncDisposableStack();
  const own = opened.use(await runningTlsEdge(settings));
  const caddy = opened.use(await caddyEdge(settings));
  const certificate = testCertificate("safe.test");
  for (const { edge } of [own, caddy]) {
    for (const [owner, all] of Map.groupBy(routes, ({ projectId }) => projectId)) await edge.switch(owner, all);
    await edge.present("safe.test", certificate);
  }
  const lifetime = opened.move();
  return {
    ask: async (asked: Asked) => ({ own: await ask(own.edge, asked), caddy: await ask(caddy.edge, asked) }),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** Sends a request to one of the edges, and returns what is compared. */
async function ask({ port, tlsPort }: { port: number; tlsPort: number }, { host, path = "/", tls, init }: Asked) {
  const headers = new Headers(init?.headers);
  headers.set("host", host);
  const options = { redirect: "manual", ...init, headers, tls: { rejectUnauthorized: false } } as const;
  const answer = await fetch(`${tls ? `https://127.0.0.1:${tlsPort}` : `http://127.0.0.1:${port}`}${path}`, options);
  const compared = COMPARED.map((name) => [name, answer.headers.get(name)?.replace(`:${tlsPort}`, ":TLS")] as const);
  return { status: answer.status, headers: Object.fromEntries(compared), text: await answer.text() };
}

function routeTo(hostname: string, target: EdgeRoute["target"], pathPrefix = "/"): EdgeRoute {
  return { hostname, pathPrefix, projectId: `prj_${hostname}`, servedBy: `dep_${hostname}`, target };
}

/** An app that responds with the request that it has received. */
function echo() {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const fields = [...request.headers].filter(
        ([name]) => !/^(accept-encoding|connection|content-length|user-agent)$/.test(name),
      );
      const text = JSON.stringify([request.method, request.url, fields.toSorted(), await request.text()]);
      const own = request.url.endsWith("/own") ? { "strict-transport-security": "max-age=7", server: "mine" } : {};
      return new Response(text, { headers: { ...own, "content-type": "text/x-echo" } });
    },
  });
}

/** The headers that the app above has received. */
function receivedFields(text: string): readonly (readonly [string, string])[] {
  return (JSON.parse(text) as [string, string, [string, string][]])[2];
}

describe("Caddy answers like the own edge", () => {
  let app: Bun.Server<undefined>;
  let opened: AsyncDisposableStack;
  let edges: Awaited<ReturnType<typeof bothEdges>>;
  let trusting: Awaited<ReturnType<typeof bothEdges>>;

  beforeAll(async () => {
    opened = new AsyncDisposableStack();
    app = echo();
    opened.defer(() => app.stop(true));
    const { data: folder, parent } = opened.use(await temporaryPlace());
    await mkdir(join(folder, "sub"), { recursive: true });
    await writeFile(join(parent, "secret"), "secret");
    await symlink(join(parent, "secret"), join(folder, "link"));
    const files = {
      "index.html": "home",
      "page.html": "page",
      "sub/index.html": "sub",
      ".env": "KEY",
      "404.html": "no",
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const broken = opened.use(rawApp(() => "reset"));
    const routes = [
      routeTo("app.test", at(app.port)),
      routeTo("safe.test", at(app.port)),
      routeTo("safe.test", { kind: "text", text: "{proof} {http.request.host}" }, "/.well-known/proof"),
      routeTo("paths.test", { kind: "none" }),
      routeTo("paths.test", at(app.port), "/a.b(c)"),
      routeTo("paths.test", { kind: "starting" }, "/a.b(c)/x"),
      routeTo("none.test", { kind: "none" }),
      routeTo("starting.test", { kind: "starting" }),
      routeTo("refused.test", at(1)),
      routeTo("broken.test", at(broken.port)),
      routeTo("site.test", { kind: "folder", path: folder }),
      routeTo("site.test", { kind: "folder", path: join(folder, "sub") }, "/docs"),
    ];
    edges = opened.use(await bothEdges({}, routes));
    const trust = { trustedProxies: ["127.0.0.0/8"], hstsSeconds: 300 };
    trusting = opened.use(await bothEdges(trust, routes));
  });
  afterAll(() => opened?.disposeAsync());

  const CLAIMS = {
    forwarded: "for=1.2.3.4;proto=https",
    "x-forwarded-for": "1.2.3.4",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "other.test",
    "x-forwarded-port": "1",
    x_forwarded_for: "1.2.3.4",
    "x-real-ip": "1.2.3.4",
    x_real_ip: "1.2.3.4",
    proxy: "http://evil.test",
    "x-kept": "kept",
  };
  const html = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

  test.each<Asked>([
    { host: "app.test", path: "/x/%2F?y=1&z" },
    { host: "app.test:8080", init: { method: "POST", body: "hello" } },
    { host: "app.test", init: { headers: CLAIMS } },
    { host: "app.test", tls: true, init: { headers: CLAIMS } },
    { host: "app.test", tls: true, path: "/own" },
    { host: "app.test", init: { method: "DELETE" } },
    { host: "safe.test", path: "/x?y" },
    { host: "safe.test", tls: true, path: "/x?y" },
    { host: "SAFE.test:81", path: "/", init: { method: "POST", body: "x" } },
    { host: "safe.test", path: "/.well-known/proof" },
    { host: "safe.test", path: "/.well-known/proof", init: { method: "POST", body: "x" } },
    { host: "safe.test", path: "/.well-known/proofs" },
    { host: "safe.test", init: { headers: { "x-forwarded-proto": "https" } } },
    { host: "safe.test", init: { headers: { "x-forwarded-proto": "HTTPS, http" } } },
    { host: "safe.test", init: { headers: { "x-forwarded-proto": "http, https" } } },
    { host: "safe.test", init: { headers: { forwarded: "for=1.2.3.4;proto=https;host=a.test" } } },
    { host: "safe.test", init: { headers: { forwarded: "for=1.2.3.4;proto=http, proto=https" } } },
    { host: "paths.test", path: "/a.b(c)/y" },
    { host: "paths.test", path: "/axb(c)/y" },
    { host: "paths.test", path: "/A.b(c)/y" },
    { host: "paths.test", path: "/a.b(c)?q" },
    { host: "paths.test", path: "/a.b(c)/x" },
    { host: "unknown.test" },
    { host: "unknown.test", init: html },
    { host: "unknown.test", tls: true },
    { host: "none.test", init: html },
    { host: "starting.test" },
    { host: "refused.test", init: html },
    { host: "broken.test" },
    { host: "site.test" },
    { host: "site.test", path: "/page", init: { headers: { range: "bytes=1-2" } } },
    { host: "site.test", path: "/page", init: { method: "HEAD" } },
    { host: "site.test", path: "/docs/" },
    { host: "site.test", path: "/nothing.png" },
    { host: "site.test", path: "/.env" },
    { host: "site.test", path: "/link" },
    { host: "site.test", path: "/%2e%2e/secret" },
    { host: "site.test", tls: true, init: { method: "POST", body: "x" } },
  ])("%j", async (asked) => {
    for (const both of [edges, trusting]) {
      const { own, caddy } = await both.ask(asked);
      expect(caddy).toEqual(own);
    }
  });

  test("except that it leaves out Forwarded where a trusted proxy sends only X-Forwarded-For", async () => {
    const headers = { "x-forwarded-for": "1.2.3.4, 5.6.7.8", "x-forwarded-proto": "https" };
    const { own, caddy } = await trusting.ask({ host: "app.test", init: { headers } });
    const expected = receivedFields(own.text).filter(([name]) => name !== "forwarded");
    expect(receivedFields(caddy.text)).toEqual(expected);
    expect(expected).toContainEqual(["x-forwarded-for", "1.2.3.4, 5.6.7.8, 127.0.0.1"]);
  });
});
