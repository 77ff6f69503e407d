import { describe, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { eventually } from "../support/eventually.ts";
import { faultMatrix, type FaultyServer } from "../support/faults/fault_matrix.ts";
import { commandLineOf, processesWith } from "../support/processes_with.ts";
import { versionedApp } from "../support/servers/slow_app.ts";
import { type Settings, SlipwayProcess } from "../support/servers/slipway_process.ts";
import { DEPLOYMENT_STRIKES, type StruckApp, struckApps } from "../support/faults/struck_apps.ts";
import { tcpGate } from "../support/faults/tcp_gate.ts";
import { testDatabase } from "../support/database/test_database.ts";

async function faultyServer(settings: Settings): Promise<FaultyServer> {
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase({ prepare: migrate }));
  const gate = opened.use(await tcpGate(Number(new URL(url).port)));
  const slipway = opened.use(
    await SlipwayProcess.start({
      DATABASE_URL: Object.assign(new URL(url), { port: String(gate.port) }).href,
      SLIPWAY_ADMIN_TOKEN: newToken(),
      PROBATION_SECONDS: "3",
      ...settings,
    }),
  );
  const lifetime = opened.move();
  return { gate, slipway, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/** Throws unless one process of the project runs, and the folders of the struck deployment exist only if it is live. */
async function expectLeft({ slipway }: FaultyServer, { name, id, outcome }: StruckApp): Promise<void> {
  const apps = () => processesWith(`${name}-app`).filter((pid) => commandLineOf(pid).startsWith("bun\0"));
  const left = await eventually(
    async () => ({ apps: apps().length, builds: processesWith(`${name}-build`) }),
    (found) => found.apps === 1 && found.builds.length === 0,
  );
  expect(left).toEqual({ apps: 1, builds: [] });
  const entries = ["releases", "instances"].flatMap((where) => readdirSync(join(slipway.folder, where)));
  expect(entries.filter((entry) => entry.includes(id))).toHaveLength(outcome === "done" ? 2 : 0);
}

describe("a deployment interrupted at any step", () => {
  const apps = struckApps({
    files: versionedApp,
    settings: (name) => ({
      buildCommand: `sh build.sh ${name}-build`,
      startCommand: `bun server.js ${name}-app`,
      projectType: "app",
    }),
    expectLeft,
  });
  faultMatrix({
    name: "plain",
    // The others only access files and the database: every one of their calls is tested in memory.
    strikes: DEPLOYMENT_STRIKES.filter(({ step }) => step !== "detect" && step !== "clean"),
    atOnce: 8,
    cancellable: true,
    server: () => faultyServer(apps.settings()),
    prepared: apps.prepared,
  });
});
