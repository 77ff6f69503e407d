import { expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { faultyListener } from "../support/faults/faulty_listener.ts";
import { rawTlsConnection } from "../support/servers/raw_http.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

const GET = "GET / HTTP/1.1\r\nHost: none.localhost\r\nConnection: close\r\n\r\n";

test("a server serves apps over TLS on EDGE_TLS_PORT, and does not mention it before it is used", async () => {
  await using slipway = await SlipwayProcess.start({ EDGE_HSTS_SECONDS: "60" });
  using client = await rawTlsConnection(slipway.edgeTlsPort, "none.localhost", { first: GET });
  const answer = await client.closed;
  expect(answer).toStartWith("HTTP/1.1 404 ");
  expect(answer).toContain("\r\nStrict-Transport-Security: max-age=60\r\n");
  expect(client.subject).toBe("slipway.invalid");
  expect(slipway.program.stdout).not.toMatch(/https|TLS/);
});

test.each(["inside", "separate"])(
  "a server starts without TLS if another program uses the port, edge %s",
  async (edge) => {
    using taken = faultyListener("silent");
    const settings = { EDGE: edge, EDGE_TLS_PORT: `${taken.port}`, LOG_FORMAT: "json" };
    await using slipway = await SlipwayProcess.start(settings);
    expect((await slipway.visit("none.localhost")).status).toBe(404);
    const warned = await eventually(
      async () => slipway.program.stderr,
      (text) => text.includes("EDGE_TLS_PORT"),
    );
    expect(warned).toContain(`Cannot listen on 127.0.0.1:${taken.port}: `);
    expect(warned).toContain(` (pid ${process.pid}) uses it. Stop that one, or set EDGE_TLS_PORT and `);
    expect(warned).toContain("docs/behind-a-proxy.md");
  },
);
