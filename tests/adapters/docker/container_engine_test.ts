import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { engineAnswers } from "../../../adapters/docker/engine/container_engine.ts";
import { MemoryContainerEngine } from "../../../adapters/memory/container_engine.ts";
import { faultyListener } from "../../support/faults/faulty_listener.ts";
import { containerEngineContract } from "../../contracts/container_engine.ts";

containerEngineContract("memory", async () => ({
  running: new MemoryContainerEngine(),
  stopped: new MemoryContainerEngine(false),
}));

describe("engineAnswers()", () => {
  test.each([
    "",
    "unix://",
    "unix:///no/such/docker.sock",
    "unix:///etc/hosts",
    "tcp://",
    "tcp://127.0.0.1:1",
    "tcp://no-such-host.invalid:2375",
    "ssh://127.0.0.1",
    "npipe:////./pipe/docker_engine",
    "not an address",
    "data:text/plain,OK",
    "file:///etc/hosts",
  ])("is false, without an error, for %j", async (dockerHost) => {
    expect(await engineAnswers(dockerHost, { timeoutMs: 500 })).toBe(false);
  });

  test.each(["silent", "dripping", "closing", "flooding"] as const)("is false for a %s listener", async (fault) => {
    using listener = faultyListener(fault, "HTTP/1.1 200 OK\r\nx");
    expect(await engineAnswers(`tcp://127.0.0.1:${listener.port}`, { timeoutMs: 300 })).toBe(false);
  });

  test("accepts an engine over TCP and over a socket, and no other web server", async () => {
    const folder = await mkdtemp(join(tmpdir(), "slipway-"));
    const ping = { "/_ping": new Response("OK", { headers: { "api-version": "1.41" } }) };
    const unix = join(folder, "docker.sock");
    const servers = [
      Bun.serve({ hostname: "127.0.0.1", port: 0, routes: ping }),
      Bun.serve({ unix, routes: ping }),
      Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("OK") }),
      Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("", { status: 500 }) }),
    ];
    const [engine, , website, broken] = servers;
    try {
      expect(await engineAnswers(`tcp://127.0.0.1:${engine?.port}`)).toBe(true);
      expect(await engineAnswers(`unix://${unix}`)).toBe(true);
      expect(await engineAnswers(`tcp://127.0.0.1:${website?.port}`)).toBe(false);
      expect(await engineAnswers(`tcp://127.0.0.1:${broken?.port}`)).toBe(false);
    } finally {
      await Promise.all(servers.map((server) => server.stop(true)));
      await rm(folder, { recursive: true });
    }
  });
});
