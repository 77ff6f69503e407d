import { join } from "node:path";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "bun:test";
import { MemoryLog } from "../../adapters/memory/log.ts";
import { readNote } from "../../adapters/edge/separate/edge_note.ts";
import { EdgeThreads } from "../../adapters/edge/separate/edge_threads.ts";
import { stopEdge, SeparateEdge } from "../../adapters/edge/separate/separate_edge.ts";
import type { EdgeRoute } from "../../ports/domains/edge.ts";
import { edgeContract } from "../contracts/edge.ts";
import { edgeWithApps } from "../support/servers/edge_with_apps.ts";
import { eventually } from "../support/eventually.ts";
import { at } from "../support/servers/running_edge.ts";
import { testPort } from "../support/servers/test_port.ts";
import { temporaryPlace } from "../support/servers/slipway_process.ts";
import { rawTlsConnection } from "../support/servers/raw_http.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";
import { separateEdge } from "../support/servers/separate_edge.ts";

edgeContract("HTTP/1.1 proxy in a process of its own", async () => edgeWithApps(await separateEdge()));

edgeContract("HTTP/1.1 proxy in a process of its own with three threads", async () =>
  edgeWithApps(await separateEdge({ workers: 3 })),
);

const COMMAND = [process.execPath, join(import.meta.dir, "../../wiring/edge_process.ts")];

function app(word = "hello") {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(word) });
  return { target: at(server.port), [Symbol.asyncDispose]: () => server.stop(true) };
}

function route(target: EdgeRoute["target"]): EdgeRoute {
  return { hostname: "a.test", pathPrefix: "/", projectId: "prj_a", servedBy: "dep_a", target };
}

/** A port as /proc/net/tcp shows it. */
function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** The certificates of 30 handshakes, each on a new connection, which the kernel gives to any thread. */
async function presented(edge: SeparateEdge, hostname = "a.test"): Promise<readonly string[]> {
  const clients = Array.from({ length: 30 }, () => rawTlsConnection(edge.tlsPort, hostname));
  const fingerprints = (await Promise.all(clients)).map((client) => {
    using used = client;
    return used.fingerprint;
  });
  return [...new Set(fingerprints)];
}

describe("SeparateEdge", () => {
  test("keeps running when its server ends, and the next one finds it", async () => {
    await using world = await separateEdge();
    await using a = app();
    await world.edge.switch("prj_a", [route(a.target)]);
    const { pid } = readNote(world.note)!;
    await world.edge.stop(0);
    expect(await (await world.ask("a.test")).text()).toBe("hello");
    const next = await world.another();
    expect(next.port).toBe(world.port);
    expect(readNote(world.note)!.pid).toBe(pid);
    // The next server does not know the app's address yet.
    await next.load([route({ kind: "starting" })]);
    expect(await (await world.ask("a.test")).text()).toBe("hello");
    await next.load([]);
    expect((await world.ask("a.test")).status).toBe(404);
  });

  test("is restarted with all routes when it is killed", async () => {
    await using world = await separateEdge();
    await using a = app();
    await world.edge.load([route(a.target)]);
    const { pid } = readNote(world.note)!;
    process.kill(pid, "SIGKILL");
    const back = await eventually(
      () => world.ask("a.test").then((answer) => answer.text()),
      (text) => text === "hello",
    );
    expect(back).toBe("hello");
    expect(readNote(world.note)!.pid).not.toBe(pid);
  });

  test("is restarted by a change after it was killed", async () => {
    await using world = await separateEdge();
    await using a = app();
    process.kill(readNote(world.note)!.pid, "SIGKILL");
    await world.edge.switch("prj_a", [route(a.target)]);
    expect(await (await world.ask("a.test")).text()).toBe("hello");
  });

  test.each([1, 3])(
    "presents certificates while servers restart and after its own restart, with %d threads",
    async (workers) => {
      await using world = await separateEdge({ workers });
      const [certificate, renewed] = [testCertificate("a.test"), testCertificate("a.test")];
      await world.edge.present("a.test", certificate);
      expect(await presented(world.edge)).toEqual([certificate.fingerprint]);
      const { pid } = readNote(world.note)!;
      await world.edge.stop(0);
      expect(await presented(world.edge)).toEqual([certificate.fingerprint]);
      const next = await world.another();
      // The next server could not read its certificates.
      await next.load([]);
      expect(readNote(world.note)!.pid).toBe(pid);
      expect(await presented(next)).toEqual([certificate.fingerprint]);
      await next.present("a.test", renewed);
      expect(await presented(next)).toEqual([renewed.fingerprint]);
      process.kill(pid, "SIGKILL");
      await next.switch("prj_b", []);
      expect(readNote(world.note)!.pid).not.toBe(pid);
      expect(await presented(next)).toEqual([renewed.fingerprint]);
    },
  );

  test.each([1, 3])(
    "presents only the certificates that the next server has, without one that is unusable, with %d threads",
    async (workers) => {
      const log = new MemoryLog();
      await using world = await separateEdge({ workers, log });
      const [kept, gone] = [testCertificate("a.test"), testCertificate("gone.test")];
      await world.edge.load([], [kept, gone]);
      expect(await presented(world.edge, "gone.test")).toEqual([gone.fingerprint]);
      await world.edge.stop(0);
      const { pid } = readNote(world.note)!;
      const next = await world.another();
      expect(await presented(next, "gone.test")).toEqual([gone.fingerprint]);
      await next.load([], [{ ...kept, hostname: "bad.test", key: gone.key }, kept]);
      expect(await presented(next)).toEqual([kept.fingerprint]);
      const [none] = await presented(next, "gone.test");
      expect([kept.fingerprint, gone.fingerprint]).not.toContain(none);
      expect(log.lines.map(({ text }) => text).join()).toContain("bad.test");
      expect(readNote(world.note)!.pid).toBe(pid);
    },
  );

  test("redirects to HTTPS and sends HSTS by its settings", async () => {
    await using world = await separateEdge({ hstsSeconds: 60 });
    await using a = app();
    await world.edge.switch("prj_a", [route(a.target)]);
    await world.edge.present("a.test", testCertificate("a.test"));
    expect((await world.ask("a.test", "/x")).headers.get("location")).toBe(`https://a.test:${world.edge.tlsPort}/x`);
    using client = await rawTlsConnection(world.edge.tlsPort, "a.test", {
      first: "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    });
    expect(await client.until(/hello$/)).toContain("\r\nStrict-Transport-Security: max-age=60\r\n");
    await world.edge.stop(0);
    const next = await world.another({ httpsRedirect: false });
    await next.load([route(a.target)]);
    await next.present("a.test", testCertificate("a.test"));
    expect((await world.ask("a.test", "/x")).status).toBe(200);
  });

  test.each([1, 3])(
    "serves without TLS while another program uses the port, and says so, with %d threads",
    async (workers) => {
      await using world = await separateEdge({ workers });
      const log = new MemoryLog();
      await using place = await temporaryPlace();
      await using other = new SeparateEdge({ folder: place.data, workers, log, command: COMMAND });
      const { tlsPort } = world.edge;
      using free = testPort();
      await other.listen({ host: "127.0.0.1", port: free.port, tlsPort });
      const note = join(place.data, `edge-${free.port}.json`);
      expect([other.port, other.tlsPort]).toEqual([free.port, 0]);
      expect(log.lines.map(({ level, text }) => `${level} ${text}`).join()).toMatch(
        new RegExp(`^warn .*Cannot listen on 127.0.0.1:${tlsPort}: \\S+ \\(pid \\d+\\) uses it\\. .*EDGE_TLS_PORT`),
      );
      await eventually(
        async () => readFileSync(note.replace(".json", ".log"), "utf8"),
        (text) => text.includes(") uses it. Stop that one"),
      );
      await other.stop(0);
      await stopEdge(note, { ifAlone: false, graceMs: 0 });
    },
  );

  test("is replaced by one with the settings of the next server", async () => {
    await using world = await separateEdge();
    const { pid } = readNote(world.note)!;
    await world.edge.stop(0);
    await world.another({ trustedProxies: ["10.0.0.0/8"] });
    expect(readNote(world.note)).toMatchObject({ port: world.port, settings: { trustedProxies: ["10.0.0.0/8"] } });
    expect(readNote(world.note)!.pid).not.toBe(pid);
  });

  test.each([
    ["hangs", (note: string) => void process.kill(readNote(note)!.pid, "SIGSTOP")],
    ["has lost its note", (note: string) => writeFileSync(note, "{}")],
  ])("one that %s is replaced by the next server", async (_, strike) => {
    await using world = await separateEdge();
    const { pid } = readNote(world.note)!;
    await world.edge.stop(0);
    strike(world.note);
    await using a = app();
    const next = await world.another();
    await next.load([route(a.target)]);
    expect(await (await world.ask("a.test")).text()).toBe("hello");
    expect(readNote(world.note)!.pid).not.toBe(pid);
  });

  test("one that hangs during a change is replaced", async () => {
    await using world = await separateEdge();
    await using a = app();
    process.kill(readNote(world.note)!.pid, "SIGSTOP");
    await world.edge.switch("prj_a", [route(a.target)]);
    expect(await (await world.ask("a.test")).text()).toBe("hello");
  });

  test("accepts commands only with its token, which others cannot read", async () => {
    await using world = await separateEdge();
    const { controlPort } = readNote(world.note)!;
    for (const authorization of ["", "Bearer ", "Bearer x"]) {
      const init = { method: "POST", headers: { authorization }, body: "{}" };
      expect((await fetch(`http://127.0.0.1:${controlPort}/stop`, init)).status).toBe(401);
    }
    expect((await Bun.file(world.note).stat()).mode & 0o777).toBe(0o600);
  });

  test("ends on request, once", async () => {
    await using world = await separateEdge();
    const end = (ifAlone: boolean) => stopEdge(world.note, { ifAlone, graceMs: 1_000 });
    // A server that waits for its end would start it again.
    expect(await end(true)).toBe("busy");
    await world.edge.stop(0);
    const ended = await eventually(
      () => end(true),
      (outcome) => outcome !== "busy",
    );
    expect(ended).toBe("ended");
    await expect(world.ask("a.test")).rejects.toThrow();
    expect(await end(false)).toBe("none");
  });

  test("with several threads serves in each of them, and all follow a switch", async () => {
    await using world = await separateEdge({ workers: 3 });
    await using a = app();
    await using b = app("goodbye");
    /** Each request takes a new connection, which the kernel gives to any thread. */
    const answers = async () => {
      const asked = Array.from({ length: 60 }, () => world.ask("a.test", "/", { keepalive: false }));
      return new Set(await Promise.all((await Promise.all(asked)).map((answer) => answer.text())));
    };
    await world.edge.load([route(a.target)]);
    expect(await answers()).toEqual(new Set(["hello"]));
    await world.edge.switch("prj_a", [route(b.target)]);
    expect(await answers()).toEqual(new Set(["goodbye"]));
    const listeners = readFileSync("/proc/net/tcp", "utf8").match(
      new RegExp(`:${hexPort(world.port)} 00000000:0000 0A `, "g"),
    );
    expect(listeners).toHaveLength(3);
  });

  test("notices when one of its threads ends", async () => {
    await using place = await temporaryPlace();
    const script = join(place.data, "thread.ts");
    const listens = 'import { parentPort } from "node:worker_threads"; parentPort.postMessage(0);';
    await Bun.write(script, `${listens} parentPort.on("message", () => process.exit(1));`);
    const settings = { host: "127.0.0.1", port: 0, trustedProxies: [], workers: 2 };
    await using threads = await EdgeThreads.start({ settings, script, log: new MemoryLog() });
    await expect(threads.carryOut(["load", { routes: [], certificates: [] }])).rejects.toThrow(
      "a thread of the edge ended",
    );
    await expect(threads.failed()).rejects.toThrow("a thread of the edge ended");
  });

  test.each([1, 3])("reports that its port is in use, with %d threads", async (workers) => {
    await using world = await separateEdge({ workers });
    await using other = new SeparateEdge({
      folder: `${world.note}-other`,
      workers,
      command: COMMAND,
    });
    const taken = other.listen({ host: "127.0.0.1", port: world.port });
    const holder = `\\S+ \\(pid ${readNote(world.note)?.pid}\\)`;
    await expect(taken).rejects.toThrow(
      new RegExp(
        `^Cannot listen on 127.0.0.1:${world.port}: ${holder} uses it\\. Stop that one, or set EDGE_PORT and `,
      ),
    );
  });
});
