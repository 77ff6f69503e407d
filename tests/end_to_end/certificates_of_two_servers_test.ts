import { expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { query } from "../support/database/query.ts";
import {
  CERTIFIED_HOSTNAME as HOSTNAME,
  certifiedServer,
  verifiedDomain,
} from "../support/servers/certified_server.ts";
import { rawTlsConnection } from "../support/servers/raw_http.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

/** The certificates that visitors of the edges get. */
async function presentedBy(...servers: readonly SlipwayProcess[]): Promise<readonly string[]> {
  const connections = await Promise.all(servers.map(({ edgeTlsPort }) => rawTlsConnection(edgeTlsPort, HOSTNAME)));
  return connections.map((connection) => {
    using used = connection;
    return used.fingerprint;
  });
}

/** Claims a name, and waits until the edges of all servers answer for it. */
async function expectAnswersFor(hostname: string, servers: readonly SlipwayProcess[]): Promise<void> {
  const [{ call, owner: token }] = servers as [SlipwayProcess];
  const project = await call("POST", "/api/projects", { token, body: { name: "Waiting" } });
  const body = { projectId: project.body.data.id, hostname };
  const { http } = (await call("POST", "/api/domains", { token, body })).body.data.verification;
  for (const server of servers)
    await eventually(
      async () => (await server.visit(hostname, new URL(http.url).pathname)).text(),
      (text) => text === http.value,
    );
}

test("both of two servers answer for names, present each new certificate, and neither one whose domain was removed meanwhile", async () => {
  await using stage = await certifiedServer({ rejectedNonces: 30 });
  const { slipway: one, url } = stage;
  await using other = await SlipwayProcess.start({ ...stage.settings, EDGE: "separate" });
  await expectAnswersFor("new.example.org", [one, other]);
  const id = await verifiedDomain(stage);
  let latest = await stage.next();
  for (const server of [one, other]) {
    const body = { domain: HOSTNAME };
    const renewed = await server.call("POST", "/api/deployments/ssl/renew", { token: server.owner, body });
    expect([renewed.status, renewed.body.status]).toEqual([200, "valid"]);
    latest = await stage.next(latest);
    // Each edge has loaded it before the response.
    expect(await presentedBy(one, other)).toEqual([latest.fingerprint256, latest.fingerprint256]);
  }
  await other.stop();
  const removed = await one.call("DELETE", `/api/domains/${id}`, { token: one.owner });
  expect(removed.status).toBe(200);
  expect(await query(url, "select 1 from certificates union all select 1 from certificate_orders")).toEqual([]);
  const [gone, kept] = await presentedBy(one, other);
  expect([gone === latest.fingerprint256, kept === latest.fingerprint256]).toEqual([false, true]);
  await other.start();
  expect(await presentedBy(other)).not.toContain(latest.fingerprint256);
});
