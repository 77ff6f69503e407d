import { describe, expect, test } from "bun:test";
import type { SourceFiles } from "../../../adapters/memory/sources.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { ProjectSettings, RuntimeName } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import type { ServiceDefinition } from "../../../domain/services/service_definition.ts";
import { APP, commit, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { shopScene } from "../../support/apps/service_scene.ts";

const EXPOSING: SourceFiles = { Dockerfile: "FROM debian\nEXPOSE 9000\n", "server.js": "" };
const TWO_APPS: SourceFiles = {
  "package.json": JSON.stringify({ workspaces: ["apps/*"] }),
  "apps/web/package.json": JSON.stringify({ name: "web", scripts: { start: "serve web" } }),
  "apps/api/package.json": JSON.stringify({ name: "api", scripts: { start: "serve api" } }),
};
const UNUSED = "The variable PORT is not used: a process gets a free port of the machine in PORT";
const NO_PORT = "The variable PORT is not used: it is not a whole number from 1 to 65535";

interface Case {
  readonly runtime: RuntimeName;
  readonly files: SourceFiles;
  /** The project's variable PORT. */
  readonly PORT: string;
  readonly settings?: ProjectSettings;
  readonly services?: readonly ServiceDefinition[];
}

interface Outcome {
  readonly deployment: Deployment;
  /** The value of PORT that each service got. */
  readonly received: Record<string, string | undefined>;
  /** The container ports of each service. */
  readonly listens: Record<string, readonly number[]>;
  readonly log: readonly string[];
}

/** Deploys with a variable PORT and returns its effects. */
async function deployedWith({ runtime, files, PORT, settings = {}, services }: Case): Promise<Outcome> {
  await using scene = await shopScene({ engine: { runtime } });
  scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
  const project = await scene.project({ gitUrl: REPOSITORY, ...settings });
  const upserts = [{ key: "PORT", value: new Secret(PORT), secret: false }];
  await scene.useCases.changeVariables(scene.by, project.id, { upserts, deletes: [] });
  const deployment = await scene.deployed(project, services ? { services } : {});
  const { started } = scene.memory.runtime;
  return {
    deployment,
    received: Object.fromEntries(
      started.map(({ service, environment }) => [service, environment.get("PORT")?.reveal()]),
    ),
    listens: Object.fromEntries(started.map(({ service, runs }) => [service, runs.kind === "image" ? runs.ports : []])),
    log: await scene.log(deployment.id),
  };
}

describe("the variable PORT of a project in a container is the port its app listens on inside", () => {
  test.each([
    ["an app", APP],
    ["a Dockerfile that exposes another", EXPOSING],
  ])("%s", async (_, files) => {
    const { deployment, received, listens, log } = await deployedWith({ runtime: "docker", files, PORT: "5000" });
    expect([deployment.status, deployment.error]).toEqual(["ready", null]);
    expect([received, listens]).toEqual([{ app: "5000" }, { app: [5000] }]);
    expect(log.filter((line) => line.includes("The variable PORT"))).toEqual([]);
  });

  test("unless the project's port is set, which the app then receives", async () => {
    const settings = { port: 4000 };
    const { received, listens } = await deployedWith({ runtime: "docker", files: APP, PORT: "5000", settings });
    expect([received, listens]).toEqual([{ app: "4000" }, { app: [4000] }]);
  });

  test.each(["abc", "0", "65536", "80 ", ""])("and is ignored when it is %p", async (PORT) => {
    const { received, listens, log } = await deployedWith({ runtime: "docker", files: EXPOSING, PORT });
    expect([received, listens]).toEqual([{ app: "9000" }, { app: [9000] }]);
    expect(log).toContain(NO_PORT);
  });

  test("for each app of several, unless its own ports or environment differ", async () => {
    const services = [
      { name: "web", rootDirectory: "apps/web" },
      { name: "api", rootDirectory: "apps/api", ports: [3000] },
      { name: "admin", rootDirectory: "apps/api", environment: { PORT: "7000" } },
    ];
    const publicEndpoints = services.map(({ name }) => ({ service: name, targetPath: `/${name}` }));
    const { deployment, received, listens } = await deployedWith({
      runtime: "docker",
      files: TWO_APPS,
      PORT: "5000",
      services,
      settings: { publicEndpoints },
    });
    expect([deployment.status, deployment.error]).toEqual(["ready", null]);
    expect(received).toEqual({ web: "5000", api: "3000", admin: "7000" });
    expect(listens).toEqual({ web: [5000], api: [3000], admin: [7000] });
  });

  test("for a service with a Dockerfile, but not for one whose ports are given", async () => {
    const services = [
      { name: "web", build: "." },
      { name: "api", build: ".", ports: [3000] },
      { name: "admin", build: ".", ports: [3000], environment: { PORT: "7000" } },
    ];
    const publicEndpoints = services.map(({ name }) => ({ service: name, targetPath: `/${name}` }));
    const { deployment, received, listens } = await deployedWith({
      runtime: "docker",
      files: EXPOSING,
      PORT: "5000",
      services,
      settings: { publicEndpoints },
    });
    expect([deployment.status, deployment.error]).toEqual(["ready", null]);
    expect(received).toEqual({ web: "5000", api: undefined, admin: "7000" });
    expect(listens).toEqual({ web: [5000], api: [3000], admin: [3000] });
  });
});

describe("the variable PORT of a project that runs as processes", () => {
  test("does not reach its app, which receives a free port", async () => {
    const { deployment, received, log } = await deployedWith({ runtime: "process", files: APP, PORT: "5000" });
    expect([deployment.status, deployment.error]).toEqual(["ready", null]);
    expect(received).toEqual({ app: undefined });
    expect(log).toContain(UNUSED);
  });

  test("does not reach the apps of a repository either", async () => {
    const settings = { publicEndpoints: [{ service: "web" }] };
    const { deployment, received, log } = await deployedWith({
      runtime: "process",
      files: TWO_APPS,
      PORT: "5000",
      settings,
    });
    expect([deployment.status, deployment.error]).toEqual(["ready", null]);
    expect(received).toEqual({ web: undefined, api: undefined });
    expect(log.filter((line) => line === UNUSED)).toHaveLength(1);
  });
});

test("a promoted service with a Dockerfile is reached on the PORT that it receives then", async () => {
  await using scene = await shopScene();
  scene.known.git[REPOSITORY] = { commits: [commit("a1", EXPOSING)] };
  const project = await scene.project({ gitUrl: REPOSITORY });
  const setPort = (PORT: string, environment: "production" | "preview") =>
    scene.useCases.changeVariables(scene.by, project.id, {
      upserts: [{ key: "PORT", value: new Secret(PORT), secret: false }],
      deletes: [],
      environment,
    });
  await setPort("5000", "preview");
  const preview = await scene.deployed(project, { environment: "preview", services: [{ name: "web", build: "." }] });
  await setPort("6000", "production");
  const live = await scene.settled((await scene.useCases.promote(scene.by, preview.id)).id);
  expect([live.status, live.error]).toEqual(["ready", null]);
  const { environment, runs } = scene.memory.runtime.started.at(-1)!;
  expect([environment.get("PORT")?.reveal(), runs]).toMatchObject(["6000", { ports: [6000] }]);
});
