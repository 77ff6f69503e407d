import { expect } from "bun:test";
import { SourceFolder, TestProject } from "../apps/deploying.ts";
import { CERTIFIED_HOSTNAME as hostname, certifiedServer, verifiedDomain } from "./certified_server.ts";
import { ConstantHandshakes } from "./constant_handshakes.ts";
import { eventually } from "../eventually.ts";
import { rawTlsConnection } from "./raw_http.ts";
import type { Settings } from "./slipway_process.ts";

const RENEWALS = 2;

/** What is deployed. It has to answer with "It works". */
export interface DeployedWork {
  readonly files: Readonly<Record<string, string>>;
  readonly startCommand?: string;
}

const SITE: DeployedWork = { files: { "index.html": "It works" } };

/**
 * Has a certificate issued for an app, and renewed, by an authority that rejects nonces, while visitors ask for the app
 * over TLS all the time. Expects each certificate to be presented as soon as it is reported, the address of the app to be
 * shown as HTTPS, and no failed handshake. An edge that is a process of its own is to serve through a restart too.
 */
export async function expectServedThroughRenewals(
  settings: Settings,
  { files, startCommand }: DeployedWork = SITE,
): Promise<void> {
  await using stage = await certifiedServer({ rejectedNonces: 30, settings });
  const { pebble, slipway } = stage;
  await using source = await SourceFolder.of(files);
  const command = startCommand === undefined ? {} : { startCommand };
  const project = await TestProject.create(slipway, { name: "site", localPath: source.path, ...command });
  await project.deployed();
  await verifiedDomain(stage, { project });
  let latest = await stage.next();
  const issued = [latest.fingerprint256];
  await presented(slipway.edgeTlsPort, latest.fingerprint256);
  await using visits = new ConstantHandshakes(slipway.edgeTlsPort, hostname, "It works");
  await visits.more(5);
  for (let renewal = 0; renewal < RENEWALS; renewal++) {
    const body = { domain: hostname };
    const renewed = await project.call("POST", "/api/deployments/ssl/renew", { body });
    expect([renewed.status, renewed.body.status]).toEqual([200, "valid"]);
    latest = await stage.next(latest);
    issued.push(latest.fingerprint256);
    await visits.more(5);
    expect(visits.fingerprints.at(-1)).toBe(latest.fingerprint256);
  }
  const { urls } = await project.get(await project.deployed());
  const { edgePort, edgeTlsPort } = slipway;
  expect(urls.toSorted()).toEqual([`http://${project.hostname}:${edgePort}`, `https://${hostname}:${edgeTlsPort}`]);
  if (settings["EDGE"] !== "inside") {
    await slipway.stop();
    await visits.more(5);
    await stage.restart();
    await visits.more(5);
  }
  await visits.stop();
  expect(visits.failures).toEqual([]);
  expect(visits.fingerprints).toEqual(issued);
  expect(await pebble.counts()).toEqual({ orders: 1 + RENEWALS, certificates: 1 + RENEWALS });
}

/** Waits until an edge presents the certificate with this fingerprint to visitors of the host. */
export async function presented(port: number, fingerprint: string): Promise<void> {
  await eventually(
    async () => {
      using connection = await rawTlsConnection(port, hostname);
      return connection.fingerprint;
    },
    (seen) => seen === fingerprint,
  );
}
