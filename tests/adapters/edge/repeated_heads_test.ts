import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { LatestRequest } from "../../../adapters/edge/latest_request.ts";
import { requestPassedOn } from "../../../adapters/edge/passed_on.ts";
import { requestHead } from "../../../adapters/edge/request_head.ts";
import { type RawApp, rawApp, rawConnection } from "../../support/servers/raw_http.ts";
import { at, runningEdge, type RunningEdge } from "../../support/servers/running_edge.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LINES = "Host: a.test\r\nUser-Agent: repeats\r\n";

/** What `work` returns or throws. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return String(error);
  }
}

function echoApp(name: string): RawApp {
  return rawApp((received) =>
    received.endsWith("\r\n\r\n") ? `HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}` : undefined,
  );
}

describe("LatestRequest", () => {
  test("reads and forwards any sequence of heads as if each were the first", () => {
    const target = fc.constantFrom("/", "/a", "/a?b=/c", "/\xe9", "*", "http://b.test/x", "/a b", "/a\r\nX: 1", "");
    const line = fc.tuple(fc.constantFrom("GET", "POST", "GE"), target, fc.constantFrom("1.1", "1.0", "2.0"));
    const field = fc.constantFrom(
      "Host: a.test",
      "Host: b.test",
      "Content-Length: 2",
      "Connection: close, X-Own",
      "Connection: upgrade",
      "Upgrade: websocket",
      "X-Own: 1 HTTP/1.1",
      "X-Forwarded-For: 192.0.2.1",
      "Bad Name: 1",
      "X-Long: " + "a".repeat(9_000),
    );
    const lines = fc.array(field, { maxLength: 3 }).map((fields) => ["Host: a.test", ...fields]);
    const head = fc
      .tuple(line, lines)
      .map(([[method, path, version], all]) => `${method} ${path} HTTP/${version}\r\n${all.join("\r\n")}\r\n`);
    // Few different heads in a long sequence repeat each other, in whole and in part.
    const sequence = fc
      .array(head, { minLength: 1, maxLength: 4 })
      .chain((heads) =>
        fc.array(fc.constantFrom(...heads, "GET /other HTTP/1.1\r\nHost: a.test\r\n"), { maxLength: 12 }),
      );
    fc.assert(
      fc.property(sequence, fc.boolean(), (texts, trusted) => {
        const peer = { address: "192.0.2.7", trusted, protocol: "http" } as const;
        const latest = new LatestRequest(peer);
        for (const text of texts) {
          expect(outcome(() => ({ ...latest.parse(text), fields: [] }))).toEqual(
            outcome(() => ({ ...requestHead(text), fields: [] })),
          );
          const forwarded = outcome(() => latest.forwarded(latest.parse(text)));
          expect(forwarded).toBe(outcome(() => requestPassedOn(requestHead(text), peer)));
        }
      }),
    );
  });
});

describe("EdgeServer with heads that repeat on a connection", () => {
  let edge: RunningEdge;
  beforeAll(() => {
    edge = runningEdge({ trustedProxies: ["127.0.0.3"] });
  });
  afterAll(() => edge[Symbol.asyncDispose]());

  /** Sends heads one after the other on one connection, each after the response to the one before. */
  async function inTurn(heads: readonly string[], end = "ok"): Promise<string> {
    using client = await rawConnection(edge.port);
    for (const [index, head] of heads.entries()) {
      client.write(`${head}\r\n`);
      await client.until((text) => text.split("HTTP/1.1 ").length === index + 2 && text.endsWith(end));
    }
    return client.text;
  }

  test("forwards each target", async () => {
    using app = rawApp((received) => (received.endsWith("\r\n\r\n") ? OK : undefined));
    await edge.put("a.test", at(app.port));
    await inTurn(["/1", "/22?x=/1", "/22?x=/1", "/1"].map((target) => `GET ${target} HTTP/1.1\r\n${LINES}`));
    expect(app.received.join("").match(/^GET .*$/gm)).toEqual([
      "GET /1 HTTP/1.1",
      "GET /22?x=/1 HTTP/1.1",
      "GET /22?x=/1 HTTP/1.1",
      "GET /1 HTTP/1.1",
    ]);
    expect(app.received.join("").match(/X-Forwarded-Host: a\.test\r\n/g)).toHaveLength(4);
  });

  test("routes each host and each absolute target to its own app", async () => {
    using a = echoApp("=a");
    using b = echoApp("=b");
    await edge.put("a.test", at(a.port));
    await edge.put("b.test", at(b.port));
    const heads = [
      "GET / HTTP/1.1\r\nHost: a.test\r\n",
      "GET / HTTP/1.1\r\nHost: b.test\r\n",
      "GET http://a.test/ HTTP/1.1\r\nHost: b.test\r\n",
      "GET / HTTP/1.1\r\nHost: b.test\r\n",
      "GET / HTTP/1.1\r\nHost: a.test\r\n",
    ];
    using client = await rawConnection(edge.port);
    for (const [index, head] of heads.entries()) {
      client.write(`${head}\r\n`);
      await client.until((text) => text.match(/=[ab]/g)?.length === index + 1);
    }
    expect(client.text.match(/=[ab]/g)).toEqual(["=a", "=b", "=a", "=b", "=a"]);
    expect(a.received.join("")).not.toContain("b.test");
    expect(b.received.join("")).not.toContain("a.test");
  });

  test("follows a switch between two identical requests", async () => {
    using a = echoApp("=a");
    using b = echoApp("=b");
    using client = await rawConnection(edge.port);
    for (const [app, answer] of [
      [a, "=a"],
      [b, "=b"],
    ] as const) {
      await edge.put("a.test", at(app.port));
      client.write(`GET / HTTP/1.1\r\n${LINES}\r\n`);
      await client.until((text) => text.endsWith(answer));
    }
  });

  test("names each client to the app, also where their heads are identical", async () => {
    using app = rawApp((received) => (received.endsWith("\r\n\r\n") ? OK : undefined));
    await edge.put("a.test", at(app.port));
    for (const localAddress of ["127.0.0.1", "127.0.0.2", "127.0.0.3"]) {
      const socket = connect({ port: edge.port, host: "127.0.0.1", localAddress });
      for (let visit = 0; visit < 2; visit++) {
        socket.write(`GET / HTTP/1.1\r\n${LINES}X-Forwarded-For: 192.0.2.9\r\n\r\n`);
        await new Promise((resolve) => socket.once("data", resolve));
      }
      socket.destroy();
    }
    expect(app.received.join("").match(/(?<=^X-Forwarded-For: ).*(?=\r$)/gm)).toEqual([
      "127.0.0.1",
      "127.0.0.1",
      "127.0.0.2",
      "127.0.0.2",
      "192.0.2.9, 127.0.0.3",
      "192.0.2.9, 127.0.0.3",
    ]);
  });

  test("does not take a header for a part of the target", async () => {
    using app = rawApp((received) => (received.endsWith("\r\n\r\n") ? OK : undefined));
    await edge.put("a.test", at(app.port));
    await inTurn([`GET / HTTP/1.1\r\n${LINES}`, `GET /x HTTP/1.1\r\nX-Own: 1 HTTP/1.1\r\n${LINES}`]);
    expect(app.received.join("")).toContain(
      "GET /x HTTP/1.1\r\nHost: a.test\r\nX-Own: 1 HTTP/1.1\r\nUser-Agent: repeats\r\nX-Forwarded-For",
    );
  });

  test("refuses a malformed target after a good one", async () => {
    using app = rawApp((received) => (received.endsWith("\r\n\r\n") ? OK : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, `GET / HTTP/1.1\r\n${LINES}\r\n`);
    await client.until(/ok$/);
    client.write(`GET /a b HTTP/1.1\r\n${LINES}\r\n`);
    expect(await client.closed).toContain("HTTP/1.1 400 ");
    expect(app.received.join("")).not.toContain("/a b");
  });

  test("delimits each body, of requests and of responses to GET and HEAD", async () => {
    using app = rawApp((received) => {
      if (received.startsWith("HEAD")) return OK.slice(0, -"ok".length);
      return /\r\n\r\n(?:..)?$/.test(received) && (!received.startsWith("POST") || /\r\n\r\n..$/.test(received))
        ? OK
        : undefined;
    });
    await edge.put("a.test", at(app.port));
    const lines = `HTTP/1.1\r\n${LINES}`;
    using client = await rawConnection(edge.port);
    const answers = ["ok", "", "ok", "ok", "ok"];
    const requests = [
      `GET / ${lines}\r\n`,
      `HEAD / ${lines}\r\n`,
      `GET / ${lines}\r\n`,
      `POST / ${lines}Content-Length: 2\r\n\r\nin`,
      `POST / ${lines}Content-Length: 2\r\n\r\nIN`,
    ];
    let expected = "";
    for (const [index, request] of requests.entries()) {
      expected += OK.slice(0, -"ok".length) + answers[index];
      client.write(request);
      await client.until((text) => text.length >= expected.length);
    }
    expect(client.text).toBe(expected);
    expect(app.received.join("").match(/\r\n\r\n(in)/gi)).toHaveLength(2);
  });
});
