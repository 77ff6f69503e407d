import { expect, test } from "bun:test";
import { SocketWebTexts } from "../../adapters/probe/socket_web_texts.ts";
import { followCertificates } from "../../application/certificates/follow_certificates.ts";
import { memoryApp } from "../support/apps/app.ts";
import { eventually } from "../support/eventually.ts";
import { runningTlsEdge } from "../support/servers/running_edge.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";

test("a name that leads to the edge is verified by it, and the edge answers for it no longer", async () => {
  await using running = await runningTlsEdge();
  const webTexts = new SocketWebTexts({ port: running.port });
  const { call, owner: token, world } = await memoryApp({}, () => ({ webTexts }));
  const { follow } = followCertificates({ ...world, edge: running.edge, mode: "self-hosted" });
  world.certificates.onChange(follow);
  world.nameRecords.set("www.example.com", { addresses: ["127.0.0.1"] });
  const projectId = (await call("POST", "/api/projects", { token, body: { name: "Site" } })).body.data.id;
  const body = { projectId, hostname: "www.example.com" };
  const { id, verification } = (await call("POST", "/api/domains", { token, body })).body.data;
  const { pathname } = new URL(verification.http.url);
  const ask = () => running.ask("www.example.com", pathname);
  await eventually(
    async () => (await ask()).text(),
    (text) => text === verification.http.value,
  );
  // Like the proofs of an authority, it is not redirected.
  await running.edge.present("www.example.com", testCertificate("www.example.com"));
  expect((await running.ask("other.example.com", pathname)).status).toBe(404);
  const verified = await call("POST", `/api/domains/${id}/verify`, { token });
  expect([verified.status, verified.body.data.verified]).toEqual([200, true]);
  await eventually(
    async () => (await ask()).status,
    (status) => status !== 200,
  );
});
