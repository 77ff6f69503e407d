import { describe, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "../support/apps/deploying.ts";
import { type DockerServer, dockerServer } from "../support/servers/docker_server.ts";
import { eventually } from "../support/eventually.ts";
import { faultMatrix } from "../support/faults/fault_matrix.ts";
import { processesWith } from "../support/processes_with.ts";
import { backPage, serviceApp } from "../support/servers/service_app.ts";
import { DEPLOYMENT_STRIKES, struckApps } from "../support/faults/struck_apps.ts";
import { REJECT_STRIKES, struckRejects } from "../support/faults/struck_rejects.ts";

// Long, because each test also waits for its turn.
const SETTINGS = { ROLLBACK_WINDOW: "0", BUILD_CONCURRENCY: "20", PROBATION_SECONDS: "3" };

/** The steps that use the engine. The other steps are tested with processes, and every call in memory. */
const STEPS = ["build", "start", "health", "switch"];

interface Left {
  readonly name: string;
  readonly project: TestProject;
  /** The version of the `back` service, which has no visitors. */
  readonly back: string;
}

interface Listed {
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/**
 * Throws unless the engine has one container of each service with its image, a volume with its data, and nothing else
 * of the project. The container of the one-shot service may be missing: it was removed for its next version, and does
 * not run again.
 */
async function expectContainers({ list }: DockerServer, { name, project, back }: Left): Promise<void> {
  const label = `slipway.project=${project.id}`;
  const found = await eventually(
    async () => ({
      containers: (await list<readonly Listed[]>("/containers/json", label))
        .map(({ State, Labels }) => `${State} ${Labels["slipway.service"]}`)
        .filter((each) => each !== "exited once")
        .sort(),
      images: (await list<readonly unknown[]>("/images/json", label)).length,
      builds: processesWith(`${name}-build`),
    }),
    ({ containers, images, builds }) => containers.length === 2 && images <= 3 && builds.length === 0,
  );
  expect(found).toEqual({
    containers: ["running back", "running web"],
    images: expect.any(Number),
    builds: [],
  });
  const { Volumes } = await list<{ readonly Volumes: unknown }>("/volumes", `slipway.scope=${project.id}`);
  expect(Volumes).toHaveLength(1);
  expect((await backPage(project)).split(" ")[0]).toBe(back);
}

describe("a deployment of several services interrupted at any step", () => {
  const apps = struckApps<DockerServer>({
    files: (version, { slow, name }) => serviceApp(version, { slow, name }),
    settings: () => ({ publicEndpoints: [{ service: "web" }] }),
    async expectLeft(server, { name, project, id, outcome, version }) {
      await expectContainers(server, { name, project, back: version });
      const expected = outcome === "done" ? `starts=v1,.*${version} once=v1,.*${version}$` : "starts=v1,.* once=v1,";
      expect(await backPage(project)).toMatch(new RegExp(expected));
      const own = readdirSync(join(server.slipway.folder, "releases")).filter((entry) => entry.includes(id));
      expect(own).toHaveLength(outcome === "done" ? 1 : 0);
    },
  });
  faultMatrix({
    name: "several",
    strikes: DEPLOYMENT_STRIKES.filter(({ step }) => STEPS.includes(step)),
    atOnce: 4,
    cancellable: true,
    // Independent of the engine, so it is tested with processes.
    databaseAway: false,
    server: () => dockerServer({ ...apps.settings(), ...SETTINGS }),
    prepared: apps.prepared,
  });
});

// Keeping a deployment does not involve the engine.
describe("the decision to reject a partial failure, interrupted", () => {
  faultMatrix({
    name: "reject",
    strikes: REJECT_STRIKES,
    atOnce: 3,
    cancellable: false,
    server: () => dockerServer(SETTINGS),
    prepared: struckRejects<DockerServer>(expectContainers),
  });
});
