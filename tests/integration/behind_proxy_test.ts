import { expect, test } from "bun:test";
import { portHolder } from "../../adapters/shared/port_holder.ts";
import { clientAddress } from "../../http/client_address.ts";
import { eventually } from "../support/eventually.ts";
import { startWebProxy, WEB_PROXY_NAMES, type WebProxyName } from "../support/peers/web_proxy.ts";
import { type RawConnection, rawConnection, rawTlsConnection } from "../support/servers/raw_http.ts";
import { at, runningTlsEdge } from "../support/servers/running_edge.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";
import { visitedApp } from "../support/servers/visited_app.ts";

const API = "slipway.example.com";
/** A name that the proxy has a certificate for, and one that only the edge has a certificate for. */
const [APP, CUSTOM] = ["shop.apps.example.com", "www.example.net"];
const CHALLENGE = "/.well-known/acme-challenge/";
const PROXY = "127.0.0.1";
const CLIENT = "127.0.0.9";
const LARGE_BYTES = 50_000_000;
const PART = Buffer.alloc(1_000_000, "x");

/** Claims of a client that nothing behind the proxy may believe, and what they contain. */
function forged(protocol: string): string[] {
  return [
    ...["X-Forwarded-For", "X_Forwarded_For", "X-Real-IP"].map((name) => `${name}: 192.0.2.66`),
    ...["X-Forwarded-Host", "X-Forwarded-Prefix", "X-Forwarded-Ssl"].map((name) => `${name}: forged.test`),
    "X-Forwarded-Port: 66",
    `X-Forwarded-Proto: ${protocol}`,
    `Forwarded: for=192.0.2.66;host=forged.test;proto=${protocol}`,
  ];
}
const FORGED = /192\.0\.2\.66|forged|"66"/;

/** An edge with an app and an API behind a proxy, as the settings in docs/behind-a-proxy.md make them. */
async function behind(name: WebProxyName) {
  await using opened = new AsyncDisposableStack();
  const app = opened.use(visitedApp());
  const api = opened.use(visitedApp((request, peer) => ({ client: clientAddress(request, peer, [PROXY]) })));
  const running = opened.use(await runningTlsEdge({ trustedProxies: [PROXY] }));
  const { edge } = running;
  const custom = testCertificate(CUSTOM);
  // With a certificate of its own, the edge redirects what it does not recognize as HTTPS.
  for (const host of [APP, CUSTOM]) {
    await running.put(host, at(app.port));
    await edge.present(host, host === CUSTOM ? custom : testCertificate(host));
  }
  const shared = { projectId: "proof", servedBy: "proof", target: { kind: "text", text: "the proof" } } as const;
  await edge.switch("proof", [
    { hostname: APP, pathPrefix: `${CHALLENGE}token`, ...shared },
    { hostname: CUSTOM, pathPrefix: `${CHALLENGE}token`, ...shared },
  ]);
  const own = testCertificate("proxy.example.com");
  const proxy = opened.use(
    await startWebProxy(name, {
      apiPort: api.port,
      edgePort: edge.port,
      edgeTlsPort: edge.tlsPort,
      certificate: { chain: own.chain, key: own.key.reveal() },
    }),
  );
  const lifetime = opened.move();
  const secure = (host: string, first = "") =>
    rawTlsConnection(proxy.httpsPort, host, { first, localAddress: CLIENT, ALPNProtocols: ["http/1.1"] });
  return {
    proxy,
    app,
    api,
    own,
    custom,
    /** Opens a TLS connection for a host. */
    secure,
    /** Requests a path of a host over HTTPS, or over plain HTTP. */
    async ask(host: string, path = "/", { plain = false, headers = [] as readonly string[] } = {}) {
      const head = getRequest(host, path, ["Connection: close", ...headers]);
      using client = plain ? await rawConnection(proxy.httpPort, head) : await secure(host, head);
      return answerOf(await client.closed);
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

interface Seen {
  readonly headers: Readonly<Record<string, string>>;
  readonly client?: { readonly address: string; readonly secure: boolean };
}

function answerOf(text: string) {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    location: /\r\nlocation: (.*)/i.exec(head)?.[1],
    body,
    seen: () => JSON.parse(body) as Seen,
  };
}

function getRequest(host: string, path: string, headers: readonly string[] = []): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers, "", ""].join("\r\n");
}

/** Exchanges a message over a WebSocket. */
async function echoes(client: RawConnection, host: string): Promise<void> {
  const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  client.write(getRequest(host, "/live", [...upgrade, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]));
  expect(await client.until(/\r\n\r\n/)).toStartWith("HTTP/1.1 101 ");
  client.write(Buffer.from("\x81\x82\0\0\0\0hi", "latin1"));
  await client.until((text) => text.endsWith("\r\n\r\n\x81\x02hi"));
}

type Behind = Awaited<ReturnType<typeof behind>>;

/** Reads the first part of a stream before the app sends the next one. */
async function streams({ app, secure }: Pick<Behind, "app" | "secure">, host: string): Promise<void> {
  for (const path of ["/events", "/lines"]) {
    using client = await secure(host, getRequest(host, path));
    await client.until(/data: first\n\n/);
    app.goOn();
    await client.until(/data: second\n\n/);
  }
}

/** Sends the rest of a body only when the app has got its beginning. */
async function uploads({ app, secure }: Pick<Behind, "app" | "secure">, host: string, size: number): Promise<void> {
  using client = await secure(host);
  client.write([`POST /upload HTTP/1.1`, `Host: ${host}`, `Content-Length: ${size}`, "", ""].join("\r\n"));
  client.write(PART);
  await eventually(
    async () => app.uploaded,
    (bytes) => bytes > 0,
  );
  for (let sent = PART.length; sent < size; sent += PART.length) {
    await new Promise((resolve) => client.socket.write(PART, resolve));
  }
  await client.until(new RegExp(`"uploaded":${size}`));
}

/** Everything that is passed on, for names that the proxy accepts HTTPS for. */
async function expectPassedOn(stage: Behind): Promise<void> {
  const { own, ask, secure } = stage;
  const headers = forged("http");
  const page = await ask(APP, "/", { headers });
  expect(page.status).toBe(200);
  expect(page.body).not.toMatch(FORGED);
  expect(page.seen().headers).toMatchObject({
    host: APP,
    "x-forwarded-for": `${CLIENT}, ${PROXY}`,
    "x-forwarded-proto": "https",
    "x-forwarded-host": APP,
    "x-real-ip": CLIENT,
    forwarded: `for=${CLIENT};host="${APP}";proto=https, for=${PROXY};host="${APP}";proto=http`,
  });
  const api = await ask(API, "/api/health", { headers });
  expect(api.seen()).toMatchObject({ client: { address: CLIENT, secure: true }, headers: { host: API } });
  using live = await secure(APP);
  await echoes(live, APP);
  expect(live.fingerprint).toBe(own.fingerprint);
  await streams(stage, APP);
  await streams({ ...stage, app: stage.api }, API);
  await uploads(stage, APP, LARGE_BYTES);
  await uploads({ ...stage, app: stage.api }, API, 3 * PART.length);
}

/** Plain requests for names that the proxy accepts HTTPS for are redirected once, except for proofs. */
async function expectRedirected({ ask }: Behind): Promise<void> {
  const headers = forged("https");
  for (const host of [APP, API]) {
    const { status, location } = await ask(host, "/a?b=c", { plain: true, headers });
    expect({ status, location }).toEqual({ status: 308, location: `https://${host}/a?b=c` });
    expect((await ask(host, "/a?b=c")).status).toBe(200);
  }
  expect(await ask(APP, `${CHALLENGE}token`, { plain: true })).toMatchObject({ status: 200, body: "the proof" });
  // The edge, which has a certificate, does not believe that this came over HTTPS.
  expect((await ask(APP, `${CHALLENGE}other`, { plain: true, headers })).status).toBe(308);
}

/** TLS of names that only the edge has a certificate for reaches the edge. */
async function expectPassedThrough(stage: Behind): Promise<void> {
  const { ask, secure, custom } = stage;
  using live = await secure(CUSTOM);
  await echoes(live, CUSTOM);
  expect(live.fingerprint).toBe(custom.fingerprint);
  const page = await ask(CUSTOM, "/", { headers: forged("http") });
  expect(page.status).toBe(200);
  expect(page.body).not.toMatch(FORGED);
  expect(page.seen().headers).toMatchObject({ "x-forwarded-for": "127.0.0.2", "x-forwarded-proto": "https" });
  await streams(stage, CUSTOM);
  await uploads(stage, CUSTOM, LARGE_BYTES);
  expect(await ask(CUSTOM, `${CHALLENGE}token`, { plain: true })).toMatchObject({ status: 200, body: "the proof" });
  const { status, location } = await ask(CUSTOM, "/a?b=c", { plain: true, headers: forged("https") });
  expect({ status, location }).toEqual({ status: 308, location: `https://${CUSTOM}/a?b=c` });
}

test.each(WEB_PROXY_NAMES)("Slipway works behind %s", async (name) => {
  await using stage = await behind(name);
  // A start on the proxy's port would name it.
  expect(portHolder(stage.proxy.httpPort)).toMatch(/^(nginx|haproxy|caddy) \(pid \d+\)$/);
  await expectPassedOn(stage);
  await expectRedirected(stage);
  if (name.includes("through")) await expectPassedThrough(stage);
});
