import { expect, test } from "bun:test";
import { memoryApp, type TestApp } from "../support/app.ts";

const lines = ({ world }: TestApp) => world.log.lines.map(({ level, text }) => ({ level, ...JSON.parse(text) }));

async function metrics({ call, owner }: TestApp): Promise<string> {
  return (await call("GET", "/metrics", { token: owner })).text;
}

test("a bug in what looks at a request first still gives it an id, a log line and an end", async () => {
  const app = await memoryApp();
  const request = new Request("http://slipway.test/api/health", { headers: { "x-request-id": "broken-request" } });
  Object.defineProperty(request, "url", {
    get() {
      throw new Error("Broken on purpose");
    },
  });
  const answer = await app.handle(request, "192.0.2.44");
  expect([answer.status, answer.headers.get("x-request-id")]).toEqual([500, "broken-request"]);
  expect(lines(app)).toMatchObject([
    { level: "error", requestId: "broken-request", error: expect.stringContaining("Broken on purpose") },
    { level: "info", requestId: "broken-request", path: "unknown", status: 500, address: "192.0.2.44" },
  ]);
  // The question itself is the one that runs.
  expect(await metrics(app)).toContain("\nslipway_http_requests_running 1\n");
});
