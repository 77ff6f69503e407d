import { runDeployment } from "../../../application/deployments/engine/run_deployment.ts";
import { Slots } from "../../../application/system/slots.ts";
import { startWorker } from "../../../application/deployments/engine/worker.ts";
import type { MemoryWorld } from "../../../adapters/memory/memory_world.ts";
import type { World } from "../../../ports/world.ts";
import type { AppSettings } from "../../../wiring/build_application.ts";
import { isSettled } from "../../../domain/deployments/transitions.ts";
import { type Call, memoryApp } from "./app.ts";
import { APP, commit, REPOSITORY } from "./engine_scene.ts";
import { eventually } from "../eventually.ts";
import { recorded } from "./recorded.ts";
import { file, tarGz } from "../inputs/tar_archive.ts";

/** The application in memory, with a worker that runs deployments in milliseconds. */
export type DeployingApp = Awaited<ReturnType<typeof deployingApp>>;

export async function deployingApp(
  settings: Partial<AppSettings> = {},
  replace: (world: MemoryWorld) => Partial<World> = () => ({}),
) {
  let replaced: Partial<World> = {};
  const app = await memoryApp(settings, (memory) => (replaced = replace(memory)));
  const { world, call, owner } = app;
  world.sources.known.git[REPOSITORY] = { commits: [commit("a1", APP)] };
  const working = recorded({ ...world, ...replaced });
  const run = runDeployment(working, {
    baseDomain: "localhost",
    publicHost: "127.0.0.1",
    credentialFor: async () => undefined,
    githostUrl: "https://git.example.com",
    runtime: "process",
    baseImages: [],
    cacheScope: (cacheKey) => cacheKey,
    buildSlots: new Slots(4),
    localSources: { mode: "self-hosted", roots: [], dataFolder: "/var/lib/slipway" },
    buildTimeoutMs: 5_000,
    rollbackWindow: 3,
    edgeUrl: async (hostname) => `http://${hostname}:4480`,
    probationMs: 3,
    healthMs: 60,
  });
  const worker = startWorker(working, { run, maxBuilds: 2 });

  async function project(body: object = { gitUrl: REPOSITORY }): Promise<string> {
    const name = `Shop ${crypto.randomUUID().slice(0, 8)}`;
    return (await call("POST", "/api/projects", { token: owner, body: { name, ...body } })).body.data.id;
  }

  function post(path: string, body: object = {}, token = owner) {
    world.clock.advance(1_000);
    return call("POST", `/api/deployments${path}`, { token, body });
  }

  function get(path: string, token = owner) {
    return call("GET", `/api/deployments${path}`, { token });
  }

  /** Starts a deployment; resolves to its id. */
  async function deploy(projectId: string, body: object = {}): Promise<string> {
    const answer = await post("", { projectId, ...body });
    if (answer.status !== 202) throw new Error(answer.text);
    return answer.body.data.deployment_id;
  }

  async function settled(id: string) {
    const found = await eventually(
      () => world.deployments.get(id),
      (deployment) => deployment !== undefined && isSettled(deployment),
    );
    return found!;
  }

  return {
    ...app,
    project,
    post,
    get,
    deploy,
    settled,
    /** Deploys and waits until the deployment has settled; resolves to its id. */
    async deployed(projectId: string, body: object = {}): Promise<string> {
      return (await settled(await deploy(projectId, body))).id;
    },
    /** Deploys services and waits until the deployment has settled; resolves to its id. */
    async deployedServices(projectId: string, services: readonly object[]): Promise<string> {
      const { body } = await post("/build/access", { projectId, services });
      return (await settled(body.deployment_id)).id;
    },
    /** Uploads a folder; resolves to its session id. */
    async upload(files: Readonly<Record<string, string>> = APP, token = owner, body: object = {}): Promise<string> {
      const { sessionId } = (await call("POST", "/api/projects/folder/session", { token, body })).body;
      const raw = tarGz(Object.entries(files).map(([name, content]) => file(name, content)));
      await call("POST", `/api/projects/folder/upload/${sessionId}`, { token, raw });
      return sessionId;
    },
    /** Sends a GET request; resolves to the response with its body unread. */
    async ask(path: string, { token = owner, headers = {} }: Call = {}, signal?: AbortSignal): Promise<Response> {
      const all = { authorization: `Bearer ${token}`, host: "slipway.test", ...headers };
      const url = `http://slipway.test/api/deployments${path}`;
      return app.handle(new Request(url, { headers: all, ...(signal && { signal }) }), "127.0.0.1");
    },
    async [Symbol.asyncDispose]() {
      await worker.stop();
      for (const { instanceId } of await world.runtime.list()) await world.runtime.remove(instanceId);
    },
  };
}
