import { describe, expect, test } from "bun:test";
import type { SourceFiles } from "../../../adapters/memory/sources.ts";
import type { Deployment, Environment } from "../../../domain/deployments/deployment.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import { APP, commit, type EngineScene, REPOSITORY, START } from "../../support/apps/engine_scene.ts";
import { digestOf, runningServices, shopScene } from "../../support/apps/service_scene.ts";

const TWO_APPS: SourceFiles = {
  "package.json": JSON.stringify({ workspaces: ["apps/*"] }),
  "apps/web/package.json": JSON.stringify({ name: "web", scripts: { build: "make web", start: "serve web" } }),
  "apps/api/package.json": JSON.stringify({ name: "api", scripts: { build: "make api", start: "serve api" } }),
};
const OWN = "canary-of-one-service";
const TWO = [
  { name: "web", image: "web:1", ports: [80] },
  { name: "db", image: "db:1" },
];

/** The two services, of which one names a variable. */
const naming = (wanted: string) =>
  TWO.map((service) => (service.name === wanted ? { ...service, environment: ["TOKEN"] } : service));

type Values = Readonly<Record<string, string>>;

async function set(scene: EngineScene, { id }: Project, values: Values, environment: Environment = "production") {
  const upserts = Object.entries(values).map(([key, value]) => ({ key, value: new Secret(value), secret: true }));
  await scene.useCases.changeVariables(scene.by, id, { upserts, deletes: [], environment });
}

const shown = (values: ReadonlyMap<string, Secret>) =>
  Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()]));

/** The environment that each service of a deployment was started with. */
function startedWith(scene: EngineScene, { id }: Deployment): Record<string, Values> {
  const started = scene.memory.runtime.started.filter(({ deploymentId }) => deploymentId === id);
  return Object.fromEntries(started.map(({ service, environment }) => [service, shown(environment)]));
}

async function sourced(scene: EngineScene, files: SourceFiles, settings = {}): Promise<Project> {
  scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
  return scene.project({ gitUrl: REPOSITORY, ...settings });
}

/** Everything that builds were given, as text. */
function buildInput({ memory }: EngineScene): string {
  const folders = memory.builder.requests.map(({ environment, commands }) => [shown(environment), commands]);
  const images = memory.imageBuilder.requests.map(({ args, dockerfile, secrets }) => [
    shown(secrets),
    [...args],
    dockerfile,
  ]);
  return JSON.stringify([folders, images]);
}

describe("a variable of one service", () => {
  test("reaches that service only, over its definition, which is over the project's", async () => {
    await using scene = await shopScene();
    const project = await scene.project();
    await set(scene, project, { A: "project", B: "project", "db/A": OWN, "db/B": OWN, "db/my.key": OWN, "no/A": "x" });
    const services = TWO.map((service) => ({ ...service, environment: { B: "definition" } }));
    const ready = await scene.deployed(project, { services });
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    expect(startedWith(scene, ready)).toEqual({
      web: { A: "project", B: "definition" },
      db: { A: OWN, B: OWN, "my.key": OWN },
    });
  });

  test("is recorded with the deployment by its key, also after a rollback", async () => {
    await using scene = await shopScene();
    const project = await scene.project();
    const recorded = { A: "project", "db/A": OWN };
    await set(scene, project, recorded);
    const first = await scene.deployed(project, { services: TWO });
    expect(first.secretKeys.toSorted()).toEqual(["A", "db/A"]);
    await set(scene, project, { "db/A": "changed" });
    scene.memory.clock.advance(1_000);
    const second = await scene.settled((await scene.useCases.redeploy(scene.by, first.id, {})).id);
    scene.memory.clock.advance(1_000);
    const third = await scene.settled((await scene.useCases.rollback(scene.by, first.id)).id);
    const environments = [second, third].map(({ id }) => scene.memory.deployments.environment(id));
    expect((await Promise.all(environments)).map(shown)).toEqual([{ ...recorded, "db/A": "changed" }, recorded]);
    expect(startedWith(scene, second)).toEqual({ db: { A: "changed" } });
    expect(startedWith(scene, third)).toEqual({ db: { A: OWN } });
  });

  test("restarts only that service when it changes", async () => {
    await using scene = await shopScene();
    const project = await scene.project({ services: TWO });
    await scene.deployed(project);
    const before = await runningServices(scene, project);
    await set(scene, project, { "db/A": OWN });
    scene.memory.clock.advance(1_000);
    await scene.deployed(project);
    const after = await runningServices(scene, project);
    expect(after["web"]!.instanceId).toBe(before["web"]!.instanceId);
    expect(after["db"]!.instanceId).not.toBe(before["db"]!.instanceId);
  });

  test("satisfies a variable that the service only names, and no other service's", async () => {
    await using scene = await shopScene();
    const project = await scene.project();
    await set(scene, project, { "db/TOKEN": OWN });
    const ready = await scene.deployed(project, { services: naming("db") });
    expect(startedWith(scene, ready)).toEqual({ web: {}, db: { TOKEN: OWN } });
    const refused = scene.deploy(project, { services: naming("web") });
    await expect(refused).rejects.toMatchObject({ kind: "invalid", details: [{ path: "services.0.environment.0" }] });
  });

  test("of previews reaches previews, and that of production a promoted one", async () => {
    await using scene = await shopScene();
    const project = await scene.project();
    await set(scene, project, { "db/A": "production" });
    await set(scene, project, { "db/A": "preview", "web/B": "preview" }, "preview");
    const preview = await scene.deployed(project, { services: TWO, environment: "preview" });
    expect(startedWith(scene, preview)).toEqual({ web: { B: "preview" }, db: { A: "preview" } });
    const live = await scene.settled((await scene.useCases.promote(scene.by, preview.id)).id);
    expect(startedWith(scene, live)).toEqual({ web: {}, db: { A: "production" } });
  });

  test("is masked in the log when another service prints it", async () => {
    await using scene = await shopScene();
    const project = await scene.project();
    await set(scene, project, { "db/A": OWN });
    scene.memory.runtime.scripts.set(digestOf("web:1"), { does: "answers", prints: [`key=${OWN};`] });
    const { id } = await scene.deployed(project, { services: TWO });
    const lines = await scene.useCases.readLogs(scene.by, id, { since: 0, limit: 100, kind: "runtime" });
    expect(lines.map(({ message }) => message)).toContain("key=[secret];");
    expect(JSON.stringify([lines, await scene.events(id)])).not.toContain(OWN);
  });

  test("is added to what a compose file declares, and not interpolated", async () => {
    await using scene = await shopScene();
    const file = [
      "services:",
      "  web:",
      "    image: web:1",
      '    ports: ["8080"]',
      "    environment: {A: declared, OTHER: '${A:-unset}'}",
      "  db: {image: db:1, environment: [B]}",
    ].join("\n");
    const project = await sourced(scene, { "compose.yaml": file });
    await set(scene, project, { "web/A": OWN, "db/B": OWN });
    const ready = await scene.deployed(project);
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    expect(startedWith(scene, ready)).toEqual({ web: { A: OWN, OTHER: "unset" }, db: { B: OWN } });
    expect((await scene.log(ready.id)).filter((line) => line.includes("Left out"))).toEqual([]);
  });

  test.each(["docker", "process"] as const)("reaches no build of an app of a repository (%s)", async (runtime) => {
    await using scene = await shopScene({ engine: { runtime } });
    const project = await sourced(scene, TWO_APPS);
    await set(scene, project, { SHARED: "shared", "web/A": OWN });
    const ready = await scene.deployed(project);
    expect([ready.status, ready.error]).toEqual(["ready", null]);
    const { api, web } = startedWith(scene, ready);
    expect([web!["A"], api!["A"], web!["SHARED"], api!["SHARED"]]).toEqual([OWN, undefined, "shared", "shared"]);
    expect(buildInput(scene)).toContain("SHARED");
    expect(buildInput(scene)).not.toContain(OWN);
    expect(buildInput(scene)).not.toContain("web/A");
  });

  test("leaves builds as they are when it changes", async () => {
    await using scene = await shopScene();
    const project = await sourced(scene, TWO_APPS);
    const first = await scene.deployed(project);
    await set(scene, project, { "web/A": OWN });
    scene.memory.clock.advance(1_000);
    const second = await scene.deployed(project);
    expect(second.buildTag).toBe(first.buildTag);
    expect(await scene.log(second.id)).toContain("web is unchanged: nothing has to be built");
    expect(startedWith(scene, second)).toEqual({ web: expect.objectContaining({ A: OWN }) });
  });

  test("that no shell can set is refused before anything runs as a process", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    const project = await sourced(scene, TWO_APPS);
    await set(scene, project, { "web/my.key": OWN });
    expect((await scene.deployed(project)).error).toMatchObject({
      code: "runtime_unsupported",
      message:
        'Cannot run web as a process: no shell can set its variable my.key. Set the runtime of the project to "docker"',
    });
  });
});

describe("a variable of the service app in a project of one app", () => {
  test.each(["docker", "process"] as const)(
    "reaches the app over the project's, but not its build (%s)",
    async (runtime) => {
      await using scene = await shopScene({ engine: { runtime } });
      const project = await sourced(scene, APP);
      await set(scene, project, { A: "project", "app/A": OWN, "app/B": OWN, "web/C": OWN });
      const { app } = startedWith(scene, await scene.deployed(project));
      expect(app).toMatchObject({ A: OWN, B: OWN });
      expect(Object.keys(app!).filter((name) => name.includes("/") || name === "C")).toEqual([]);
      expect(buildInput(scene)).toContain('"A":"project"');
      expect(buildInput(scene)).not.toContain(OWN);
    },
  );

  test("is masked in the logs of the build and of the app", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    const project = await sourced(scene, APP);
    await set(scene, project, { "app/A": OWN });
    scene.scriptBuild({ prints: [`key=${OWN};`] });
    scene.memory.runtime.scripts.set(START, { does: "answers", prints: [`key=${OWN};`] });
    const { id } = await scene.deployed(project);
    for (const kind of ["build", "runtime"] as const) {
      const lines = await scene.useCases.readLogs(scene.by, id, { since: 0, limit: 100, kind });
      expect(lines.map(({ message }) => message)).toContain("key=[secret];");
    }
    expect(JSON.stringify(await scene.events(id))).not.toContain(OWN);
  });

  test("is no argument of a Dockerfile", async () => {
    await using scene = await shopScene();
    const project = await sourced(scene, { Dockerfile: "FROM debian\nARG A\nARG B\nEXPOSE 9000\n" });
    const upserts = ["A", "app/B"].map((key) => ({ key, value: new Secret(`of ${key}`), secret: false }));
    await scene.useCases.changeVariables(scene.by, project.id, { upserts, deletes: [] });
    const ready = await scene.deployed(project);
    const { args, secrets } = scene.memory.imageBuilder.requests.at(-1)!;
    expect([[...args], shown(secrets)]).toEqual([[["A", "of A"]], { A: "of A" }]);
    expect(startedWith(scene, ready)["app"]).toMatchObject({ A: "of A", B: "of app/B" });
  });

  test("called PORT is the port that it listens on in a container", async () => {
    await using scene = await shopScene();
    const project = await sourced(scene, APP);
    await set(scene, project, { PORT: "5000", "app/PORT": "6000", "web/PORT": "7000" });
    const ready = await scene.deployed(project);
    expect([ready.plan.port, startedWith(scene, ready)["app"]!["PORT"]]).toEqual([6000, "6000"]);
  });

  test("called PORT is noted in the log when it has no effect", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    const project = await sourced(scene, APP);
    await set(scene, project, { "app/PORT": "6000", "web/PORT": "7000" });
    const { id } = await scene.deployed(project);
    expect((await scene.log(id)).filter((line) => line.startsWith("The variable "))).toEqual([
      "The variable app/PORT is not used: a process gets a free port of the machine in PORT",
    ]);
  });

  test("counts as changed after a restart, and one of no service of the project does not", async () => {
    await using scene = await shopScene({ engine: { runtime: "process" } });
    const project = await sourced(scene, APP);
    const { id } = await scene.deployed(project);
    const changed = async () => (await scene.useCases.restartInstances(scene.by, id)).variablesChanged;
    await set(scene, project, { "web/A": OWN });
    expect(await changed()).toBe(false);
    await set(scene, project, { "app/A": OWN });
    expect(await changed()).toBe(true);
  });
});
