import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rawApp, rawConnection } from "../../support/servers/raw_http.ts";
import { at, runningEdge, type RunningEdge } from "../../support/servers/running_edge.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** What the app receives of a request, and the client of its response. */
async function pass(edge: RunningEdge, request: string, answer = OK) {
  using app = rawApp((received) => (received.includes("\r\n\r\n") ? answer : undefined));
  await edge.put("a.test", at(app.port));
  using client = await rawConnection(edge.port, request);
  const end = answer.slice(answer.indexOf("\r\n\r\n", answer.lastIndexOf("HTTP/1.")));
  const answered = await client.until((text) => text.endsWith(end));
  return { received: app.received[0] ?? "", answered };
}

describe("EdgeServer forwards requests", () => {
  let edge: RunningEdge;
  beforeAll(() => {
    edge = runningEdge({ trustedProxies: [] });
  });
  afterAll(() => edge[Symbol.asyncDispose]());

  test("with target, host and headers as they were sent", async () => {
    const { received } = await pass(
      edge,
      "GET /a%2Fb/../c?x=%20&y=[1] HTTP/1.1\r\nHost: A.test:4480\r\nX-OdD: 1\r\nx-dup: a\r\nX-Dup:b\r\nX-L: \xe9\r\nAccept:\r\n\r\n",
    );
    expect(received).toBe(
      "GET /a%2Fb/../c?x=%20&y=[1] HTTP/1.1\r\nHost: A.test:4480\r\nX-OdD: 1\r\nx-dup: a\r\nX-Dup:b\r\nX-L: \xe9\r\nAccept:\r\n" +
        "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: A.test:4480\r\n" +
        'Forwarded: for=127.0.0.1;host="A.test:4480";proto=http\r\n\r\n',
    );
  });

  test.each(["DELETE", "OPTIONS", "PATCH", "PURGE", "TRACE", "PROPFIND", "M-SEARCH"])(
    "of method %s",
    async (method) => {
      const { received } = await pass(edge, `${method} /x HTTP/1.1\r\nHost: a.test\r\n\r\n`);
      expect(received).toStartWith(`${method} /x HTTP/1.1\r\nHost: a.test\r\n`);
    },
  );

  test("to the host that an absolute target names, and OPTIONS * to the host", async () => {
    const { received } = await pass(edge, "GET http://A.test:80?q HTTP/1.1\r\nHost: other.test\r\n\r\n");
    expect(received).toStartWith("GET /?q HTTP/1.1\r\nHost: A.test:80\r\n");
    const options = await pass(edge, "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n");
    expect(options.received).toStartWith("OPTIONS * HTTP/1.1\r\n");
  });

  test("without hop-by-hop headers, including those that Connection lists", async () => {
    const { received } = await pass(
      edge,
      "GET / HTTP/1.1\r\nX-First: 1\r\nconnection: X-Own, keep-alive\r\nHost: a.test\r\nx-own: 1\r\nKeep-Alive: timeout=5\r\n" +
        "Proxy-Connection: keep-alive\r\nProxy-Authorization: x\r\nTE: trailers\r\nUpgrade: h2c\r\nProxy: http://evil\r\n" +
        "X-Owner: stays\r\nConnection: close\r\n\r\n",
    );
    expect(received).toStartWith("GET / HTTP/1.1\r\nHost: a.test\r\nX-First: 1\r\nX-Owner: stays\r\nX-Forwarded-For: ");
    expect(received).not.toMatch(/own: 1|keep-alive|proxy|te:|h2c/i);
  });

  test("with a length that Connection tries to hide", async () => {
    const { received } = await pass(
      edge,
      "POST / HTTP/1.1\r\nHost: a.test\r\nConnection: Content-Length\r\nContent-Length: 4\r\n\r\nbody",
    );
    expect(received).toContain("Content-Length: 4\r\n");
    expect(received).toEndWith("\r\n\r\nbody");
  });

  test("without the forwarding headers of an untrusted client", async () => {
    const { received } = await pass(
      edge,
      "GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 1.2.3.4\r\nx-forwarded-proto: https\r\nX-Forwarded-Port: 1\r\n" +
        "X_Forwarded_Host: evil\r\nX-Real-IP: 1.2.3.4\r\nForwarded: for=1.2.3.4\r\n\r\n",
    );
    expect(received.match(/forwarded|real/gi)).toHaveLength(4);
    expect(received).not.toMatch(/1\.2\.3\.4|evil|https/);
  });

  test("with the forwarding headers of a trusted proxy", async () => {
    await using trusting = runningEdge({ trustedProxies: ["127.0.0.0/8"] });
    const { received } = await pass(
      trusting,
      "GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\n" +
        "X-Forwarded-Host: shop.test\r\nX-Real-IP: 1.2.3.4\r\nForwarded: for=1.2.3.4\r\n\r\n",
    );
    for (const line of [
      "X-Real-IP: 1.2.3.4",
      "X-Forwarded-For: 1.2.3.4, 127.0.0.1",
      "X-Forwarded-Proto: https",
      "X-Forwarded-Host: shop.test",
      'Forwarded: for=1.2.3.4, for=127.0.0.1;host="a.test";proto=http',
    ])
      expect(received).toContain(`${line}\r\n`);
    expect(received.match(/forwarded/gi)).toHaveLength(4);
  });

  test("with a Forwarded header that agrees with the headers of a trusted proxy that sends none", async () => {
    await using trusting = runningEdge({ trustedProxies: ["127.0.0.0/8"] });
    const forwarded = async (...lines: string[]) => {
      const { received } = await pass(trusting, ["GET / HTTP/1.1", "Host: a.test", ...lines, "", ""].join("\r\n"));
      return /\r\nForwarded: (.*), for=127\.0\.0\.1;host="a\.test";proto=http\r\n/.exec(received)?.[1];
    };
    const [https, host] = ["X-Forwarded-Proto: https", "X-Forwarded-Host: shop.test"];
    expect(await forwarded("X-Forwarded-For: 1.2.3.4", https, host)).toBe('for=1.2.3.4;host="shop.test";proto=https');
    expect(await forwarded("X-Forwarded-For: 2001:db8::1,1.2.3.4", "X-Forwarded-Proto: HTTPS, http")).toBe(
      'for="[2001:db8::1]";host="a.test";proto=https, for=1.2.3.4',
    );
    expect(
      await forwarded('X-Forwarded-For: x;proto=http"', "X-Forwarded-Proto: https;x", 'X-Forwarded-Host: a",b'),
    ).toBe("for=unknown");
  });

  test("without underscored forwarding headers, which a trusted proxy passes on from its client", async () => {
    await using trusting = runningEdge({ trustedProxies: ["127.0.0.0/8"] });
    const { received } = await pass(
      trusting,
      "GET / HTTP/1.1\r\nHost: a.test\r\nX_Forwarded_For: 1.2.3.4\r\nX-Forwarded_Proto: https\r\nX_Real_IP: 1.2.3.4\r\n" +
        "X-Forwarded-Port: 443\r\n\r\n",
    );
    expect(received).not.toMatch(/_|1\.2\.3\.4|https/);
    expect(received).toContain("X-Forwarded-Port: 443\r\n");
  });

  test("with the original framing of bodies", async () => {
    const chunked = "3;x=y\r\nabc\r\n0A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n";
    const { received } = await pass(
      edge,
      `POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
    );
    expect(received).toEndWith(`\r\n\r\n${chunked}`);
    const get = await pass(edge, "GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\nhi");
    expect(get.received).toEndWith("\r\n\r\nhi");
  });

  test("after sending 100 Continue to a client that expects it, and not to the app", async () => {
    using app = rawApp((received) => (received.endsWith("\r\n\r\nbody") ? OK : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(
      edge.port,
      "POST / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
    );
    expect(await client.until(/\r\n\r\n/)).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    client.write("body");
    await client.until(/ok$/);
    expect(app.received[0]).not.toMatch(/expect/i);
  });
});

describe("EdgeServer forwards responses", () => {
  let edge: RunningEdge;
  beforeAll(() => {
    edge = runningEdge();
  });
  afterAll(() => edge[Symbol.asyncDispose]());

  test.each([
    "HTTP/1.1 200 Fine\r\nX-WeIrD: 1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-D:1\r\nx-d: 2\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 204 No Content\r\nX-A: \xe9\r\n\r\n",
    'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 1234\r\n\r\n',
    "HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x00",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n2;a=b\r\nok\r\n0\r\nX-T: 1\r\n\r\n",
  ])("byte for byte: %j", async (answer) => {
    const { answered } = await pass(edge, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", answer);
    expect(answered).toBe(answer);
  });

  test("to HEAD without a body, for any declared length", async () => {
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n";
    using app = rawApp((received) => (received.includes("\r\n\r\n") ? answer : undefined));
    await edge.put("a.test", at(app.port));
    const head = "HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    using client = await rawConnection(edge.port, head);
    await client.until(/\r\n\r\n/);
    client.write(head);
    expect(await client.until((text) => text.length >= 2 * answer.length)).toBe(answer + answer);
    expect(app.connections).toBe(1);
  });

  test("without informational responses and hop-by-hop headers", async () => {
    const { answered } = await pass(
      edge,
      "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" +
        "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nX-A: 1\r\nConnection: close, X-Own\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nok",
    );
    expect(answered).toBe("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok");
  });

  test.each([0, 5, 70_000])("of %d bytes with a head that has to be changed", async (length) => {
    const body = "b".repeat(length);
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n`;
    using app = rawApp((received) =>
      received.endsWith("\r\n\r\n")
        ? `${head}Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n${body}`
        : undefined,
    );
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port);
    for (let visit = 1; visit <= 2; visit++) {
      client.write("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
      const expected = `${head}\r\n${body}`.repeat(visit);
      expect((await client.until((text) => text.length >= expected.length)) === expected).toBeTrue();
    }
    expect(app.connections).toBe(1);
  });

  test("that end with the connection, by closing the connection of the client", async () => {
    using app = rawApp((received) =>
      received.includes("\r\n\r\n") ? "HTTP/1.1 200 OK\r\n\r\nuntil the end" : undefined,
    );
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    await client.until(/until the end$/);
    app[Symbol.dispose]();
    expect(await client.closed).toBe("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end");
  });

  test("to HTTP/1.0 clients without chunks, and keeps their connection on request", async () => {
    using app = rawApp((received) => {
      if (received.includes("GET /chunks"))
        return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
      return OK;
    });
    await edge.put("a.test", at(app.port));
    using chunks = await rawConnection(edge.port, "GET /chunks HTTP/1.0\r\nHost: a.test\r\n\r\n");
    expect(await chunks.closed).toBe("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
    const request = "GET / HTTP/1.0\r\nHost: a.test\r\nConnection: Keep-Alive\r\n\r\n";
    using kept = await rawConnection(edge.port, request);
    await kept.until(/ok$/);
    kept.write(request);
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok";
    expect(await kept.until((text) => text.length >= 2 * answer.length)).toBe(answer + answer);
  });

  test.each([
    "no HTTP at all",
    "HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nno chunk",
    "HTTP/1.1 200 OK\r\nX-A: 1\r\n folded\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    `HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(70_000)}\r\n\r\n`,
  ])("unless they are malformed or ambiguous: %#", async (answer) => {
    using app = rawApp((received) =>
      received.includes("\r\n\r\n") ? answer + (answer.includes("\r\n\r\n") ? "" : "\r\n\r\n") : undefined,
    );
    await edge.put("a.test", at(app.port));
    const { status } = await edge.ask("a.test");
    expect(status).toBe(502);
  });
});

describe("EdgeServer refuses requests", () => {
  let edge: RunningEdge;
  beforeAll(() => {
    edge = runningEdge();
  });
  afterAll(() => edge[Symbol.asyncDispose]());

  test.each<[number, string]>([
    [400, "GET /\r\n\r\n"],
    [400, "GET  / HTTP/1.1\r\nHost: a.test\r\n\r\n"],
    [400, "GET / HTTP/1.1\nHost: a.test\n\r\n\r\n"],
    [400, "G{T / HTTP/1.1\r\nHost: a.test\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test/x\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test@b.test\r\n\r\n"],
    [400, "GET a.test HTTP/1.1\r\nHost: a.test\r\n\r\n"],
    [400, "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test\r\nX-A : 1\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test\r\n X-A: 1\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test\r\nX-A: 1\rX-B: 2\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test\r\nX-A: 1\nX-B: 2\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test\r\nX-A: \0\r\n\r\n"],
    [400, "GET / HTTP/1.1\r\nHost: a.test\r\n: 1\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: +2\r\n\r\nhi"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2, 2\r\n\r\nhi"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0x2\r\n\r\nhi"],
    [501, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"],
    [501, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    [501, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\xa0\r\n\r\n0\r\n\r\n"],
    [501, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.0\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nhi\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n2\nhi\n0\n\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n2;a\nb\r\nhi\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nhi\r\n0\r\n\r\n"],
    [400, "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-T: 1\n\r\n"],
    [431, `GET / HTTP/1.1\r\nHost: a.test\r\nX-A: ${"a".repeat(70_000)}\r\n\r\n`],
    [431, "a".repeat(70_000)],
    [431, `GET / HTTP/1.1\r\nHost: a.test\r\n${"Connection: a\r\n".repeat(200)}\r\n`],
    [505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("with %d and closes: %j", async (status, request) => {
    using app = rawApp((received) => (/\r\n\r\n/.test(received) && !/chunked/.test(received) ? OK : undefined));
    await edge.put("a.test", at(app.port));
    using client = await rawConnection(edge.port, `${request}GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n`);
    client.socket.end();
    const answer = await client.closed;
    expect(answer).toStartWith(`HTTP/1.1 ${status} `);
    expect(answer).toContain("Connection: close\r\n");
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(app.received.join()).not.toContain("smuggled");
  });
});
