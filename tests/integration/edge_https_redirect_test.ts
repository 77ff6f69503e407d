import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { EdgeOptions } from "../../adapters/edge/edge_server.ts";
import { rawConnection } from "../support/servers/raw_http.ts";
import { at, type RunningEdge, runningEdge, runningTlsEdge } from "../support/servers/running_edge.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";

const HSTS = "strict-transport-security";

let app: Bun.Server<undefined>;
beforeEach(() => {
  app = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response("ok", { headers: url.endsWith("/own") ? { [HSTS]: "max-age=7" } : {} }),
  });
});
afterEach(() => app.stop(true));

/** An edge that serves `a.test`, which has a certificate, and `b.test`, which has none. */
async function servingEdge(options: EdgeOptions = {}): Promise<RunningEdge> {
  const edge = await runningTlsEdge(options);
  await edge.put("a.test", at(app.port));
  await edge.put("b.test", at(app.port));
  await edge.edge.present("a.test", testCertificate("a.test"));
  return edge;
}

function askTls({ edge }: RunningEdge, path: string): Promise<Response> {
  const init = { headers: { host: "a.test" }, tls: { rejectUnauthorized: false } };
  return fetch(`https://127.0.0.1:${edge.tlsPort}${path}`, init);
}

async function sent(answer: Promise<Response>): Promise<string | null> {
  return (await answer).headers.get(HSTS);
}

describe("EdgeServer redirects to HTTPS", () => {
  test("plain requests for a host with a certificate, with their path and query, whatever the method", async () => {
    await using edge = await servingEdge();
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const body = method === "POST" ? { body: "x".repeat(100_000) } : {};
      const answer = await edge.ask("A.test:8080", "/x/%2F?y=1&z", { method, ...body });
      expect([answer.status, answer.headers.get("location")]).toEqual([
        308,
        `https://a.test:${edge.edge.tlsPort}/x/%2F?y=1&z`,
      ]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    expect((await edge.ask("b.test")).status).toBe(200);
    expect((await edge.ask("c.test")).status).toBe(404);
    await edge.edge.present("a.test", null);
    expect((await edge.ask("a.test")).status).toBe(200);
  });

  test("with a location that consists of ASCII characters and names only the host", async () => {
    await using edge = await servingEdge();
    const location = async (target: string) => {
      using client = await rawConnection(edge.port, `GET ${target} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
      return /\r\nLocation: (.*)\r\n/.exec(await client.until(/\r\n\r\n/))?.[1];
    };
    const origin = `https://a.test:${edge.edge.tlsPort}`;
    expect(await location("/caf\xc3\xa9")).toBe(`${origin}/caf%C3%A9`);
    expect(await location("//evil.test/")).toBe(`${origin}//evil.test/`);
    expect(await location("http://a.test/absolute")).toBe(`${origin}/absolute`);
    expect(await location("http://a.test?query")).toBe(`${origin}/?query`);
  });

  test("but not texts, which certificate authorities read", async () => {
    await using edge = await servingEdge();
    const target = { kind: "text", text: "proof" } as const;
    const route = { hostname: "a.test", pathPrefix: "/.well-known/x", projectId: "proof", servedBy: "proof", target };
    await edge.edge.switch("proof", [route]);
    expect(await (await edge.ask("a.test", "/.well-known/x")).text()).toBe("proof");
    expect((await edge.ask("a.test", "/.well-known/y")).status).toBe(308);
  });

  test.each([
    [{ "x-forwarded-proto": "https" }, 200],
    [{ "x-forwarded-proto": "HTTPS, http" }, 200],
    [{ forwarded: "for=1.2.3.4;proto=https;host=a.test" }, 200],
    [{ "x-forwarded-proto": "http" }, 308],
    [{ "x-forwarded-proto": "http, https" }, 308],
    [{ forwarded: "for=1.2.3.4;proto=http, proto=https" }, 308],
    [{}, 308],
  ])("unless a trusted proxy got the request over HTTPS: %j", async (headers, status) => {
    await using edge = await servingEdge({ trustedProxies: ["127.0.0.1"] });
    expect((await edge.ask("a.test", "/", { headers })).status).toBe(status);
    await using distrustful = await servingEdge();
    expect((await distrustful.ask("a.test", "/", { headers })).status).toBe(308);
  });

  test("only if told to, and only while it serves over TLS", async () => {
    await using off = await servingEdge({ httpsRedirect: false });
    expect((await off.ask("a.test")).status).toBe(200);
    await using plain = runningEdge();
    await plain.put("a.test", at(app.port));
    await plain.edge.present("a.test", testCertificate("a.test"));
    expect((await plain.ask("a.test")).status).toBe(200);
  });
});

describe("EdgeServer tells browsers to use only HTTPS", () => {
  test("if it is told to, over TLS only, and never instead of the app", async () => {
    await using edge = await servingEdge({ hstsSeconds: 300, httpsRedirect: false });
    expect(await sent(askTls(edge, "/"))).toBe("max-age=300");
    expect(await sent(askTls(edge, "/own"))).toBe("max-age=7");
    expect(await sent(edge.ask("a.test", "/"))).toBeNull();
    expect(await sent(edge.ask("a.test", "/own"))).toBe("max-age=7");
    await edge.put("a.test", { kind: "folder", path: import.meta.dir });
    expect(await sent(askTls(edge, "/edge_https_redirect_test.ts"))).toBe("max-age=300");
    expect(await sent(edge.ask("a.test", "/edge_https_redirect_test.ts"))).toBeNull();
    await edge.put("a.test", { kind: "none" });
    expect(await sent(askTls(edge, "/"))).toBe("max-age=300");
  });

  test("not by default", async () => {
    await using edge = await servingEdge();
    expect((await askTls(edge, "/")).headers.get(HSTS)).toBeNull();
    expect((await askTls(edge, "/own")).headers.get(HSTS)).toBe("max-age=7");
  });
});
