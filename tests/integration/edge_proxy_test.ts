import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { EdgeServer } from "../../adapters/edge/edge_server.ts";
import type { EdgeRoute } from "../../ports/domains/edge.ts";
import { eventually } from "../support/eventually.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { rawApp, rawConnection } from "../support/servers/raw_http.ts";
import { at, runningEdge, type RunningEdge } from "../support/servers/running_edge.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const GET = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
/** More than all kernel buffers on the path hold together. */
const FLOOD_BYTES = 100_000_000;

let edge: RunningEdge;
beforeEach(() => {
  edge = runningEdge();
});
afterEach(() => edge[Symbol.asyncDispose]());

function serve(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, maxRequestBodySize: 1e10, fetch });
  return { port: server.port, server, [Symbol.asyncDispose]: () => server.stop(true) };
}

describe("EdgeServer streams", () => {
  test("each part of a response before the next is there", async () => {
    const pieces: ReadableStreamDefaultController<Uint8Array>[] = [];
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void pieces.push(controller) });
    await using app = serve(() => new Response(body, { headers: { "content-type": "text/event-stream" } }));
    await edge.put("a.test", at(app.port));
    const asking = edge.ask("a.test");
    await eventually(
      async () => pieces.length,
      (length) => length > 0,
    );
    pieces[0]?.enqueue(Buffer.from("data: 1\n\n"));
    const reader = (await asking).body!.getReader();
    for (const number of [1, 2, 3]) {
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(`data: ${number}\n\n`);
      if (number < 3) pieces[0]?.enqueue(Buffer.from(`data: ${number + 1}\n\n`));
    }
    pieces[0]?.close();
    expect((await reader.read()).done).toBe(true);
  });

  test("each part of a body before the next is there", async () => {
    using app = rawApp((received) => (received.endsWith("0\r\n\r\n") ? OK : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(
      edge.port,
      "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    for (const piece of ["1\r\na\r\n", "1\r", "\nb", "\r\n"]) {
      client.write(piece);
      await eventually(
        async () => app.received[0],
        (received) => received?.endsWith(piece) === true,
      );
      expect(app.received[0]).toEndWith(piece);
    }
    client.write("0\r\n\r\n");
    await client.until(/ok$/);
  });

  test.each(["with a length", "in chunks"])("large bodies both ways at once, %s", async (framing) => {
    await using app = serve((request) => new Response(request.body));
    await edge.put("a.test", at(app.port));
    const bytes = randomInput("a large body").bytes(40_000_000);
    const body = framing === "in chunks" ? new Blob([bytes]).stream() : bytes;
    const answer = await edge.ask("a.test", "/", { method: "POST", body });
    expect(Bun.hash(await answer.arrayBuffer())).toBe(Bun.hash(bytes));
  });

  test("a body no faster than the app reads it", async () => {
    const slow = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: (socket) => socket.pause(), data() {} },
    });
    await edge.put("a.test", at(slow.port));
    using client = await rawConnection(
      edge.port,
      `POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: ${FLOOD_BYTES}\r\n\r\n`,
    );
    const taken = await stalls(() => {
      while (!client.socket.writableNeedDrain) client.socket.write(Buffer.alloc(100_000));
      return client.socket.bytesWritten - client.socket.writableLength;
    });
    expect(taken).toBeLessThan(FLOOD_BYTES / 2);
    slow.stop(true);
  });

  test("a response no faster than the client reads it", async () => {
    let sent = 0;
    const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${FLOOD_BYTES}\r\n\r\n`);
    const piece = Buffer.alloc(100_000);
    const pump = (socket: Socket) => {
      for (let taken = piece.length; taken === piece.length && sent < FLOOD_BYTES; sent += taken)
        taken = Math.max(0, socket.write(piece));
    };
    const quick = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          socket.write(head);
          pump(socket);
        },
        drain: pump,
      },
    });
    await edge.put("a.test", at(quick.port));
    using client = await rawConnection(edge.port, GET);
    client.socket.pause();
    const taken = await stalls(() => sent);
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(FLOOD_BYTES / 2);
    quick.stop(true);
  });
});

/** The value once it stops changing. */
async function stalls(ask: () => number): Promise<number> {
  let before = -1;
  return eventually(
    async () => {
      await Bun.sleep(200);
      return ask();
    },
    (value) => {
      const same = value > 0 && value === before;
      before = value;
      return same;
    },
  );
}

describe("EdgeServer keeps connections", () => {
  test("to the client and to the app", async () => {
    using app = rawApp((received) => (received.includes("\r\n\r\n") ? OK : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port);
    for (let count = 1; count <= 5; count++) {
      client.write(GET);
      await client.until((text) => text.length === count * OK.length);
    }
    await edge.ask("a.test");
    expect(app.connections).toBe(1);
  });

  test("and answers pipelined requests in order", async () => {
    await using app = serve(async (request) => new Response(new URL(request.url).pathname + (await request.text())));
    await edge.put("a.test", at(app.port));
    const requests = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0
        ? `GET /${index} HTTP/1.1\r\nHost: a.test\r\n\r\n`
        : `POST /${index} HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n!`,
    );
    using client = await rawConnection(edge.port, requests.join(""));
    const text = await client.until(/\/49!$/);
    const bodies = text.match(/\r\n\r\n\/\d+!?/g)?.map((body) => body.trim());
    expect(bodies).toEqual(requests.map((_, index) => `/${index}${index % 2 === 0 ? "" : "!"}`));
  });

  test("and reads no further requests of a client that does not read responses", async () => {
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${"x".repeat(100_000)}`;
    using app = rawApp((received) => (received.includes("\r\n\r\n") ? answer : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port);
    client.socket.pause();
    client.write(GET.repeat(5_000));
    const received = await stalls(() => app.received.join("").length);
    expect(received).toBeLessThan((GET.length * 5_000) / 4);
  });

  test("but not with an app that closes, sends more than requested, or asks to close", async () => {
    const answers = [
      OK.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
      `${OK}more`,
      OK.replace("HTTP/1.1", "HTTP/1.0"),
      OK,
    ];
    using app = rawApp((received, connection) => (received.includes("\r\n\r\n") ? answers[connection] : undefined));
    await edge.put("a.test", at(app.port));
    for (const _ of answers) expect(await (await edge.ask("a.test")).text()).toBe("ok");
    expect(app.connections).toBe(answers.length);
  });

  test("but not to an app that is no longer served", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<string>();
    const app = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.write(OK), close: () => resolve("closed") },
    });
    await edge.put("a.test", at(app.port));
    await edge.ask("a.test");
    await edge.put("a.test", { kind: "none" });
    // Without the switch, an idle connection stays open twice as long.
    expect(await Promise.race([closed, Bun.sleep(2_000)])).toBe("closed");
    app.stop(true);
  });
});

describe("EdgeServer notices", () => {
  test("that a client disconnected, and aborts the request to the app", async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    let isReceived = false;
    await using app = serve((request) => {
      isReceived = true;
      request.signal.addEventListener("abort", () => resolve());
      return new Promise(() => {});
    });
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, GET);
    await eventually(async () => isReceived, Boolean);
    client.socket.destroy();
    await aborted;
    await edge.edge.drained("dep_a.test", 60_000);
  });

  test.each([
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
  ])("that an app broke off, and breaks off towards the client: %j", async (answer) => {
    using app = rawApp((received) => (received.includes("\r\n\r\n") ? answer : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, GET);
    await client.until(/half/);
    app[Symbol.dispose]();
    const broken = Promise.withResolvers<Error>();
    client.socket.on("error", broken.resolve);
    expect(await broken.promise).toMatchObject({ code: "ECONNRESET" });
  });

  test("a response that comes before the whole body, and delivers it", async () => {
    const early = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig";
    using app = rawApp((received, connection) => (connection > 0 ? OK : received.length > 1000 ? early : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5000000\r\n\r\n");
    client.write(Buffer.alloc(5_000_000));
    await client.until(/big$/);
    client.write(GET);
    expect(await client.until(/ok$/)).toStartWith("HTTP/1.1 413 Too Large\r\n");
  });
});

describe("EdgeServer retries", () => {
  test.each(["close", "reset"] as const)(
    "once, on a new connection, when an app does %s before it answers",
    async (fault) => {
      using app = rawApp((received, connection) => (connection === 0 ? fault : OK));
      await edge.put("a.test", at(app.port));
      expect(await (await edge.ask("a.test")).text()).toBe("ok");
      expect(app.connections).toBe(2);
    },
  );

  test.each(["GET", "HEAD", "OPTIONS", "DELETE"])("not more than once: %s", async (method) => {
    using app = rawApp(() => "close");
    await edge.put("a.test", at(app.port));
    expect((await edge.ask("a.test", "/", { method })).status).toBe(502);
    expect(app.connections).toBe(2);
  });

  test.each([
    "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    "PATCH / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n1",
    "PUT / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n1",
    "GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\n1",
  ])("never a request that may take effect twice: %j", async (request) => {
    using app = rawApp(() => "close");
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, request);
    expect(await client.until(/\r\n\r\n/)).toStartWith("HTTP/1.1 502 ");
    expect(app.connections).toBe(1);
  });

  test("never after an app has begun to answer", async () => {
    using app = rawApp((received) => (received.includes("\r\n\r\n") ? "HTTP/1.1 200" : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, GET);
    await eventually(
      async () => app.received[0],
      (received) => received !== undefined && received !== "",
    );
    app[Symbol.dispose]();
    expect(await client.until(/\r\n\r\n/)).toStartWith("HTTP/1.1 502 ");
  });

  test("any request, at the new address, when the old app refuses the connection after a switch", async () => {
    using gone = rawApp(() => OK);
    gone[Symbol.dispose]();
    await using app = serve(async (request) => new Response(await request.text()));
    let looked = 0;
    // Switches as soon as a request has been sent to the old app.
    const route: EdgeRoute = {
      hostname: "a.test",
      pathPrefix: "/",
      projectId: "prj_a.test",
      servedBy: "dep_old",
      get target() {
        if (looked++ === 1) queueMicrotask(() => void edge.put("a.test", at(app.port)));
        return at(gone.port);
      },
    };
    await edge.edge.switch("prj_a.test", [route]);
    const asking = edge.ask("a.test", "/", { method: "POST", body: "kept" });
    expect(await (await asking).text()).toBe("kept");
    expect(looked).toBe(2);
    await edge.edge.drained("dep_old", 60_000);
  });

  test("after a kept connection was closed by the app", async () => {
    using app = rawApp((received, connection) => {
      if (!received.includes("\r\n\r\n")) return undefined;
      return connection === 0 && app.received[0]?.match(/GET/g)?.length === 2 ? "reset" : OK;
    });
    await edge.put("a.test", at(app.port));
    await edge.ask("a.test");
    expect(await (await edge.ask("a.test")).text()).toBe("ok");
    expect(app.connections).toBe(2);
  });
});

/** The response of the edge itself, instead of an app's. */
async function pageOf(host: string, accept: string) {
  const answer = await edge.ask(host, "/", { headers: { accept } });
  const { status, headers } = answer;
  return {
    status,
    type: headers.get("content-type"),
    cache: headers.get("cache-control"),
    text: await answer.text(),
  };
}

describe("EdgeServer explains", () => {
  test("what is missing, as HTML or JSON, and never where apps listen", async () => {
    using gone = rawApp(() => OK);
    gone[Symbol.dispose]();
    await edge.put("down.test", at(gone.port));
    await edge.put("new.test", { kind: "none" });
    for (const [host, status, code] of [
      ["none.test", 404, "no_such_app"],
      ["down.test", 502, "app_unreachable"],
      ["new.test", 503, "no_release"],
    ] as const) {
      const json = await pageOf(host, "application/json, text/html");
      expect(json).toMatchObject({ status, type: "application/json", cache: "no-store" });
      expect(JSON.parse(json.text)).toEqual({ success: false, error: expect.any(String), code });
      const html = await pageOf(host, "text/html,application/xhtml+xml,*/*;q=0.8");
      expect(html).toMatchObject({ status, type: "text/html; charset=utf-8", cache: "no-store" });
      expect(html.text).toStartWith("<!doctype html>");
      for (const { text } of [json, html]) expect(text).not.toMatch(new RegExp(`127\\.0|${gone.port}|ECONN`));
    }
  });

  test("without a body to HEAD, and keeps the connection", async () => {
    using client = await rawConnection(edge.port, "HEAD / HTTP/1.1\r\nHost: none.test\r\n\r\n");
    expect(await client.until(/\r\n\r\n/)).toMatch(/Content-Length: [1-9][^]*\r\n\r\n$/);
    client.write("POST / HTTP/1.1\r\nHost: none.test\r\nContent-Length: 200000\r\n\r\n");
    client.write(Buffer.alloc(200_000));
    client.write("GET / HTTP/1.1\r\nHost: none.test\r\nConnection: close\r\n\r\n");
    expect((await client.closed).match(/HTTP\/1\.1 404/g)).toHaveLength(3);
  });

  test("that it is starting until its routes are loaded", async () => {
    await using young = new EdgeServer();
    await young.listen({ host: "127.0.0.1", port: 0 });
    const ask = () => fetch(`http://127.0.0.1:${young.port}/`);
    expect(await (await ask()).json()).toMatchObject({ code: "starting" });
    young.load([]);
    expect(await (await ask()).json()).toMatchObject({ code: "no_such_app" });
  });

  test("in its log why an app does not answer, at a limited rate", async () => {
    const lines: unknown[] = [];
    await using noting = runningEdge({ log: { write: (...line) => void lines.push(line) } });
    await noting.put("a.test", at(1));
    for (let count = 0; count < 3; count++) await noting.ask("a.test");
    const fields = { projectId: "prj_a.test", servedBy: "dep_a.test", reason: expect.any(String) };
    expect(lines).toEqual([["warn", "An app did not answer", fields]]);
  });

  test("listen() which address another program uses", async () => {
    const second = new EdgeServer();
    await expect(second.listen({ host: "127.0.0.1", port: edge.port })).rejects.toThrow(
      new RegExp(`^Cannot listen on 127.0.0.1:${edge.port}: .* uses it\\. Stop that one, or set EDGE_PORT and `),
    );
  });
});

describe("EdgeServer responds with a text", () => {
  test("to GET and HEAD only, as plain text that nobody stores", async () => {
    await edge.put("a.test", { kind: "text", text: "proof.ünï" });
    const answer = await edge.ask("a.test", "/any");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/plain");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await answer.text()).toBe("proof.ünï");
    const head = await edge.ask("a.test", "/any", { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe("11");
    const post = await edge.ask("a.test", "/any", { method: "POST", body: "x" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});

describe("EdgeServer gives up", () => {
  test.each(["", "GET / HTTP/1.1\r\nHost: a.te"])("on a client that never completes its head: %j", async (begun) => {
    await using hasty = runningEdge({ limits: { headMs: 1_500 } });
    using client = await rawConnection(hasty.port, begun);
    expect(await client.closed).toMatch(begun === "" ? /^$/ : /^HTTP\/1\.1 408 /);
  });

  test("on an idle connection", async () => {
    await using hasty = runningEdge({ limits: { idleMs: 1 } });
    using client = await rawConnection(hasty.port, "GET / HTTP/1.1\r\nHost: none.test\r\n\r\n");
    expect(await client.closed).toStartWith("HTTP/1.1 404 ");
  });

  test("on a client that sends an unread body without end", async () => {
    await using hasty = runningEdge({ limits: { lingerMs: 1 } });
    using client = await rawConnection(
      hasty.port,
      "POST / HTTP/1.1\r\nHost: none.test\r\nContent-Length: 1000\r\n\r\nbegun",
    );
    expect(await client.closed).toStartWith("HTTP/1.1 404 ");
  });

  test("on an app that does not begin to answer, but not on one that has begun", async () => {
    await using hasty = runningEdge({ limits: { answerMs: 1_500 } });
    using silent = rawApp(() => undefined);
    await hasty.put("silent.test", at(silent.port));
    expect(await (await hasty.ask("silent.test")).json()).toMatchObject({ code: "app_too_slow" });
    using slow = rawApp((received) => (received === "more" ? "lo" : "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"));
    await hasty.put("slow.test", at(slow.port));
    using client = await rawConnection(hasty.port, "POST / HTTP/1.1\r\nHost: slow.test\r\nContent-Length: 4\r\n\r\n");
    await client.until(/hel$/);
    // Longer than the timeout plus the time until it is detected.
    await Bun.sleep(2_500);
    client.write("more");
    await client.until(/hello$/);
  });
});

describe("EdgeServer stops", () => {
  test("after running requests have ended, and accepts no new ones", async () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    let isReceived = false;
    await using app = serve(() => {
      isReceived = true;
      return promise;
    });
    await edge.put("a.test", at(app.port));
    using idle = await rawConnection(edge.port);
    const asking = edge.ask("a.test");
    await eventually(async () => isReceived, Boolean);
    const stopping = edge.edge.stop(60_000);
    expect(await idle.closed).toBe("");
    await expect(edge.ask("a.test")).rejects.toThrow();
    resolve(new Response("done"));
    const answer = await asking;
    expect(await answer.text()).toBe("done");
    expect(answer.headers.get("connection")).toBe("close");
    await stopping;
  });

  test("at the end of its grace period, even with running requests", async () => {
    let isReceived = false;
    await using app = serve(() => {
      isReceived = true;
      return new Promise(() => {});
    });
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, GET);
    await eventually(
      async () => isReceived,
      (now) => now,
    );
    await edge.edge.stop(10);
    expect(await client.closed).toBe("");
  });
});
