import { describe, expect, setDefaultTimeout } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { containerApp } from "../support/container_app.ts";
import { type DockerServer, dockerServer } from "../support/docker_server.ts";
import { eventually } from "../support/eventually.ts";
import { faultMatrix } from "../support/fault_matrix.ts";
import { processesWith } from "../support/processes_with.ts";
import { DEPLOYMENT_STRIKES, type StruckApp, struckApps } from "../support/struck_apps.ts";

// Each waits for its turn, too.
setDefaultTimeout(900_000);

const label = (what: string) => ["--filter", `label=slipway.${what}`, "--quiet"];

/** Fails unless the engine holds one container and one image of the project, those that serve. */
async function expectLeft({ docker, slipway }: DockerServer, { name, project, id, outcome }: StruckApp): Promise<void> {
  const live = (await project.call("GET", `/api/projects/${project.id}`)).body.data.activeDeploymentId as string;
  const left = await eventually(
    async () => ({
      all: (await docker("ps", "--all", ...label(`project=${project.id}`))).length,
      live: (await docker("ps", ...label(`deployment=${live}`))).length,
      images: new Set(await docker("images", ...label(`project=${project.id}`))).size,
      builds: processesWith(`${name}-build`),
    }),
    (found) => found.all === 1 && found.images === 1 && found.builds.length === 0,
    60_000,
  );
  expect(left).toEqual({ all: 1, live: 1, images: 1, builds: [] });
  const own = readdirSync(join(slipway.folder, "releases")).filter((entry) => entry.includes(id));
  expect(own).toHaveLength(outcome === "done" ? 1 : 0);
}

describe("a deployment in containers struck at any step", () => {
  const apps = struckApps({ files: containerApp, settings: () => ({}), expectLeft });
  faultMatrix({
    name: "boxed",
    strikes: DEPLOYMENT_STRIKES,
    atOnce: 4,
    awayTogether: 2,
    cancellable: true,
    server: () => dockerServer({ ...apps.settings(), ROLLBACK_WINDOW: "0" }),
    prepared: apps.prepared,
  });
});
