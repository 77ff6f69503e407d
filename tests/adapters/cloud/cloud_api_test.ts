import { describe, expect, test } from "bun:test";
import { HttpCloudApi } from "../../../adapters/cloud/cloud_api.ts";
import { MemoryCloudApi } from "../../../adapters/memory/cloud_api.ts";
import { Secret } from "../../../domain/secret.ts";
import { cloudApiContract } from "../../contracts/cloud_api.ts";

cloudApiContract("memory", async (respond) => {
  const adapter = new MemoryCloudApi();
  const url = "https://cloud.example.com";
  adapter.clouds.set(url, respond);
  return { adapter, url, silentUrl: "https://away.example.com", [Symbol.asyncDispose]: async () => {} };
});

cloudApiContract("HTTP", async (respond) => {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: respond });
  return {
    adapter: new HttpCloudApi(),
    url: `http://127.0.0.1:${server.port}`,
    silentUrl: "http://127.0.0.1:1",
    [Symbol.asyncDispose]: () => server.stop(true),
  };
});

describe("HttpCloudApi", () => {
  test("takes a cloud that breaks off a short answer for one that does not answer", async () => {
    const head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\nConnection: close\r\n\r\n";
    let asked = 0;
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket) {
          asked++;
          socket.end(`${head}{"data":`);
        },
      },
    });
    const cloud = { url: `http://127.0.0.1:${server.port}`, token: new Secret("slp_cloud") };
    const send = (method: string) =>
      new HttpCloudApi().send(cloud, { method, path: "/api/health", signal: new AbortController().signal });
    await expect(send("POST")).rejects.toMatchObject({ kind: "unavailable", code: "cloud_away" });
    expect(asked).toBe(1);
    await expect(send("GET")).rejects.toMatchObject({ kind: "unavailable", code: "cloud_away" });
    // What only reads is asked once more.
    expect(asked).toBe(3);
    server.stop(true);
  });

  test("passes the length of a short answer on", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ data: "船" }) });
    const cloud = { url: `http://127.0.0.1:${server.port}`, token: new Secret("slp_cloud") };
    const request = { method: "GET", path: "/", signal: new AbortController().signal };
    const passing = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new HttpCloudApi().send(cloud, request) });
    const answer = await fetch(`http://127.0.0.1:${passing.port}`);
    expect([await answer.text(), answer.headers.get("content-length")]).toEqual(['{"data":"船"}', "14"]);
    for (const each of [server, passing]) await each.stop(true);
  });
});
