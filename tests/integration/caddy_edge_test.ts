import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MemoryLog } from "../../adapters/memory/log.ts";
import { CaddyEdge } from "../../adapters/edge/caddy/caddy_edge.ts";
import { withParts } from "../../adapters/edge/caddy/caddy_config.ts";
import type { EdgeRoute } from "../../ports/domains/edge.ts";
import { edgeContract } from "../contracts/edge.ts";
import { eventually } from "../support/eventually.ts";
import { Caddy } from "../support/peers/caddy.ts";
import { caddyEdge } from "../support/servers/caddy_edge.ts";
import { edgeWithApps } from "../support/servers/edge_with_apps.ts";
import { rawTlsConnection } from "../support/servers/raw_http.ts";
import { askerOf, at } from "../support/servers/running_edge.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";
import { testPort } from "../support/servers/test_port.ts";

edgeContract("Caddy", async () => edgeWithApps(await caddyEdge()));

let app: Bun.Server<undefined>;
beforeEach(() => {
  app = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("hello") });
});
afterEach(() => app.stop(true));

function route(target: EdgeRoute["target"] = at(app.port), hostname = "a.test"): EdgeRoute {
  return { hostname, pathPrefix: "/", projectId: `prj_${hostname}`, servedBy: `dep_${hostname}`, target };
}

/** The text of a response, or why there is none. */
async function textOf(answer: Promise<Response>): Promise<string> {
  return answer.then((got) => got.text()).catch(String);
}

async function fingerprintAt(tlsPort: number, host = "a.test"): Promise<string | undefined> {
  using client = await rawTlsConnection(tlsPort, host);
  return client.fingerprint;
}

describe("CaddyEdge", () => {
  test("leaves what the operator has configured as it is", async () => {
    using free = testPort();
    const foreign = testCertificate("foreign.test");
    const config = {
      apps: {
        http: {
          grace_period: 5_000_000_000,
          servers: {
            mine: {
              listen: [`127.0.0.1:${free.port}`],
              automatic_https: { disable: true },
              routes: [{ handle: [{ handler: "static_response", body: "mine" }] }],
            },
          },
        },
        tls: {
          certificates: { load_pem: [{ certificate: foreign.chain, key: foreign.key.reveal(), tags: ["mine"] }] },
        },
      },
    };
    await using world = await caddyEdge({ config });
    const before = (await world.caddy.admin.read()).config;
    await world.edge.switch("prj_a", [route()]);
    await world.edge.present("a.test", testCertificate("a.test"));
    expect(await textOf(fetch(`http://127.0.0.1:${free.port}/`))).toBe("mine");
    const { config: after } = await world.caddy.admin.read();
    const without = withParts(after, { servers: {}, certificates: [] });
    expect(without).toEqual(withParts(before, { servers: {}, certificates: [] }));
    expect(without.apps).toEqual(config.apps);
  });

  test("serves many hosts, in any case", async () => {
    await using world = await caddyEdge();
    const hosts = Array.from({ length: 100 }, (_, index) => `host-${index}.test`);
    await world.edge.load(hosts.map((host, index) => route(index % 10 === 9 ? { kind: "none" } : at(app.port), host)));
    for (const index of [0, 31, 32, 98])
      for (const host of [`HOST-${index}.test`, `host-${index}.test.`])
        expect(await textOf(world.ask(host))).toBe("hello");
    expect((await world.ask("Host-99.test")).status).toBe(503);
    expect((await world.ask("host-100.test")).status).toBe(404);
  });

  test("takes its turn when others change the configuration at the same time", async () => {
    await using world = await caddyEdge();
    const stopping = new AbortController();
    const changing = (async () => {
      for (let count = 0; !stopping.signal.aborted; count++) {
        const logging = { logs: { default: { level: count % 2 === 0 ? "ERROR" : "WARN" } } };
        const { config, version } = await world.caddy.admin.read();
        await world.caddy.admin.write({ ...config, logging }, version);
        await Bun.sleep(30);
      }
    })();
    const hosts = Array.from({ length: 8 }, (_, index) => `${index}.test`);
    await Promise.all(hosts.map((host) => world.put(host, at(app.port))));
    stopping.abort();
    await changing;
    for (const host of hosts) expect(await textOf(world.ask(host))).toBe("hello");
  });

  test("refuses a change that Caddy refuses, with Caddy's words, and goes on serving with all others", async () => {
    await using world = await caddyEdge();
    const good = testCertificate("a.test");
    await world.edge.present("a.test", good);
    await world.put("b.test", at(app.port));
    // Caddy, unlike this process, does not read a certificate with such a name.
    const bad = testCertificate("\u00e4.test");
    const outcomes = await Promise.allSettled([
      world.put("c.test", at(app.port)),
      world.edge.present("a.test", bad),
      world.put("d.test", at(app.port)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const { reason } = outcomes[1] as PromiseRejectedResult;
    expect(reason).toMatchObject({ name: "Failure", kind: "unavailable", code: "caddy_refused" });
    expect(reason.message).toStartWith("Cannot configure Caddy: loading new config: ");
    expect(reason.message).not.toMatch(/PRIVATE KEY|BEGIN/);
    for (const host of ["b.test", "c.test", "d.test"]) expect(await textOf(world.ask(host))).toBe("hello");
    expect(await fingerprintAt(world.ports.tlsPort)).toBe(good.fingerprint);
    await world.put("e.test", at(app.port));
    expect(await textOf(world.ask("e.test"))).toBe("hello");
  });

  test("loads what Caddy takes, and logs a certificate that only Caddy cannot read", async () => {
    const log = new MemoryLog();
    await using world = await caddyEdge({ log });
    const [good, bad] = [testCertificate("a.test"), { ...testCertificate("\u00e4.test"), hostname: "b.test" }];
    await world.edge.load([route(at(app.port), "c.test")], [bad, good]);
    expect(await textOf(world.ask("c.test"))).toBe("hello");
    expect(await fingerprintAt(world.ports.tlsPort)).toBe(good.fingerprint);
    const warned = log.lines.filter(({ text }) => text.includes("A certificate cannot be presented"));
    expect(warned.map(({ text }) => JSON.parse(text).hostname)).toEqual(["b.test"]);
  });

  test("gives a Caddy that was killed and started again everything it had", async () => {
    const log = new MemoryLog();
    await using world = await caddyEdge({ log });
    const certificate = testCertificate("b.test");
    await world.edge.present("b.test", certificate);
    await world.put("a.test", at(app.port));
    await world.caddy.kill();
    await world.caddy.start();
    await eventually(
      () => textOf(world.ask("a.test")),
      (text) => text === "hello",
    );
    expect(await fingerprintAt(world.ports.tlsPort, "b.test")).toBe(certificate.fingerprint);
    const lines = () => log.lines.map(({ text }) => text).join("\n");
    await eventually(
      async () => lines(),
      (text) => /lost the routes|serves the apps now/.test(text),
    );
  });

  test("gives a Caddy whose operator has loaded another configuration everything again", async () => {
    await using world = await caddyEdge();
    await world.put("a.test", at(app.port));
    const { config, version } = await world.caddy.admin.read();
    await world.caddy.admin.write({ ...config, apps: {} }, version);
    await eventually(
      () => textOf(world.ask("a.test")),
      (text) => text === "hello",
    );
  });

  test("waits for a Caddy that is being restarted", async () => {
    await using world = await caddyEdge({ waitMs: 60_000 });
    await world.caddy.kill();
    const putting = world.put("a.test", at(app.port));
    await world.caddy.start();
    await putting;
    expect(await textOf(world.ask("a.test"))).toBe("hello");
  });

  test("says that Caddy is away, and gives it what was changed meanwhile when it is back", async () => {
    const log = new MemoryLog();
    await using caddy = await Caddy.prepare();
    using ports = new DisposableStack();
    const [port, tlsPort] = [ports.use(testPort()).port, ports.use(testPort()).port];
    await using edge = new CaddyEdge({ admin: caddy.adminAddress, log });
    await edge.listen({ host: "127.0.0.1", port, tlsPort });
    await edge.load([route()]);
    const certificate = testCertificate("a.test");
    const sentence = `Cannot reach Caddy at ${caddy.adminAddress}: ENOENT. Start Caddy (on Debian: apt-get install caddy), or check CADDY_ADMIN`;
    await expect(edge.present("b.test", certificate)).rejects.toThrow(sentence);
    await expect(edge.switch("prj_c", [route(at(app.port), "c.test")])).rejects.toThrow(sentence);
    expect(log.lines.filter(({ level, text }) => level === "warn" && text.includes("Cannot reach Caddy"))).toHaveLength(
      1,
    );
    await caddy.start();
    const ask = askerOf(edge);
    for (const host of ["a.test", "c.test"])
      await eventually(
        () => textOf(ask(host)),
        (text) => text === "hello",
      );
    expect(await fingerprintAt(tlsPort, "b.test")).toBe(certificate.fingerprint);
    expect(log.lines.filter(({ text }) => text.includes("Caddy serves the apps now"))).toHaveLength(1);
  });

  test("reports that a port is in use, does not let Caddy try it, and serves once it is free", async () => {
    const log = new MemoryLog();
    await using caddy = await Caddy.start();
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    using free = testPort();
    await using edge = new CaddyEdge({ admin: caddy.adminAddress, log });
    await edge.listen({ host: "127.0.0.1", port: free.port, tlsPort: other.port });
    await edge.load([route()]);
    expect(log.lines.map(({ text }) => text).join()).toMatch(
      new RegExp(`Cannot listen on 127.0.0.1:${other.port}: .+ uses it\\. .+EDGE_TLS_PORT`),
    );
    expect(await textOf(askerOf(edge)("a.test"))).toContain("Unable to connect");
    other.stop(true);
    await edge.switch("prj_b", [route(at(app.port), "b.test")]);
    for (const host of ["a.test", "b.test"]) expect(await textOf(askerOf(edge)(host))).toBe("hello");
  });

  test("does not share a port with a server of the operator", async () => {
    using free = testPort();
    const log = new MemoryLog();
    const mine = { listen: [`:${free.port}`], automatic_https: { disable: true } };
    await using caddy = await Caddy.start({ apps: { http: { servers: { mine } } } });
    using other = testPort();
    await using edge = new CaddyEdge({ admin: caddy.adminAddress, log });
    await edge.listen({ host: "127.0.0.1", port: free.port, tlsPort: other.port });
    await edge.load([]);
    expect(log.lines.map(({ text }) => text).join()).toContain('its server \\"mine\\" listens on the same port');
  });

  test("keeps serving while servers restart, without a change that the next server does not need", async () => {
    await using world = await caddyEdge();
    const certificate = testCertificate("a.test");
    const folder = { kind: "folder", path: import.meta.dir } as const;
    await world.edge.load([route(), route(folder, "site.test")]);
    await world.edge.present("b.test", certificate);
    const before = await world.caddy.admin.read();
    await world.edge.stop(0);
    expect(await textOf(world.ask("a.test"))).toBe("hello");
    const without = await world.ask("site.test", "/caddy_edge_test.ts");
    expect([without.status, without.headers.get("retry-after")]).toEqual([503, "1"]);
    const next = await world.another();
    // The next server neither knows where the app is, nor has it read its certificates yet.
    await next.load([route({ kind: "starting" }), route(folder, "site.test")]);
    expect(await textOf(world.ask("a.test"))).toBe("hello");
    expect((await world.ask("site.test", "/caddy_edge_test.ts")).status).toBe(200);
    expect(await fingerprintAt(world.ports.tlsPort, "b.test")).toBe(certificate.fingerprint);
    expect((await world.caddy.admin.read()).version).toBe(before.version);
    await next.load([route()], []);
    expect(await fingerprintAt(world.ports.tlsPort, "b.test")).not.toBe(certificate.fingerprint);
  });
});
