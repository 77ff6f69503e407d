import { storeProject } from "../../../application/projects/create_project.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { adoptedInstance, adoptedInstanceId } from "../../../domain/deployments/instance_id.ts";
import type { AdoptedService } from "../../../domain/migration/adoption.ts";
import type { Project } from "../../../domain/projects/project.ts";
import { Secret } from "../../../domain/secret.ts";
import type { ServiceDefinition } from "../../../domain/services/service_definition.ts";
import { SETTINGS } from "./app.ts";
import { EngineScene } from "./engine_scene.ts";
import { digestOf } from "./service_scene.ts";

const NAMES = ["web", "api", "db"] as const;

/** The name of a job that ran to its end before it was adopted. */
export const JOB = "migrate";

export type AdoptedName = (typeof NAMES)[number] | typeof JOB;

export interface AdoptedSceneOptions {
  /** Whether the project also has a finished job. Defaults to `false`. */
  readonly hasJob?: boolean;
}

/** A command that makes a service end right after its start. */
export const BROKEN = "break";

/** A project that was adopted from running containers, in memory. */
export interface AdoptedScene extends AsyncDisposable {
  readonly scene: EngineScene;
  readonly project: Project;
  /** Deploys and waits until the deployment has settled. */
  deployed(request?: Parameters<EngineScene["deploy"]>[1]): Promise<Deployment>;
  setVariable(key: string, value: string): Promise<void>;
  /** Changes the definition of a service, or removes it. */
  redefine(name: AdoptedName, change: Partial<ServiceDefinition> | "removed"): Promise<void>;
  /** What runs each service now: the adopted container, instances started here, or both. */
  running(): Promise<Readonly<Record<string, readonly ("adopted" | "own")[]>>>;
  /** The services whose adopted container stays stopped, also after a restart of the engine. */
  resting(): readonly string[];
}

/** Opens a scene with an adopted project of three services, each with a container that runs, and perhaps a job. */
export async function adoptedScene({ hasJob = false }: AdoptedSceneOptions = {}): Promise<AdoptedScene> {
  const scene = await EngineScene.open({ engine: { runtime: "docker" } });
  const { memory, by } = scene;
  const serverId = "srv_1";
  memory.runtime.scripts.set(BROKEN, { does: "ends", code: 3 });
  const { imageRegistry } = memory.serverEngines.of(serverId);
  const names = hasJob ? [...NAMES, JOB] : NAMES;
  const services = names.map((service, index): AdoptedService => {
    const [image, id] = [digestOf(`${service}:1`), `${index + 1}`.repeat(64)];
    for (const name of [`${service}:1`, `docker.io/library/${service}:1`])
      imageRegistry.known.set(name, { image, port: null });
    memory.runtime.putOutside({ id, image, isUp: service !== JOB });
    return adoptedService(service, { serverId, imageId: image, containerId: id });
  });
  const settings = { projectType: "services", services: services.map(({ definition }) => definition) } as const;
  const fields = { name: "Shop", slug: "shop", settings, location: "server", serverId } as const;
  const ports = { ...memory, baseDomain: SETTINGS.baseDomain, publicHost: "slipway.test" };
  const variables = names.map((name) => ({ key: `${name}/COLOR`, value: new Secret("blue"), secret: false }));
  const project = await storeProject(ports, by, fields, (stored, freeName) =>
    memory.adoptions.create(stored, freeName, { services, variables }),
  );
  return {
    ...controls(scene, project, services),
    scene,
    project,
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

function adoptedService(
  service: string,
  { containerId, imageId, serverId }: Pick<AdoptedService, "containerId" | "imageId" | "serverId">,
): AdoptedService {
  return {
    service,
    key: `shop/${service}`,
    serverId,
    containerId,
    containerName: `shop-${service}-1`,
    imageId,
    running: service !== JOB,
    definition: { name: service, image: `${service}:1`, ...(service === JOB && { oneShot: true }) },
    environment: new Map([["COLOR", new Secret("blue")]]),
    recipe: new Secret("{}"),
  };
}

function controls(scene: EngineScene, project: Project, services: readonly AdoptedService[]) {
  const { memory, by, useCases } = scene;
  return {
    async deployed(request: Parameters<EngineScene["deploy"]>[1] = {}) {
      memory.clock.advance(1_000);
      return scene.deployed(project, request);
    },
    async setVariable(key: string, value: string) {
      const upserts = [{ key, value: new Secret(value), secret: false }];
      await useCases.changeVariables(by, project.id, { upserts, deletes: [], environment: "production" });
    },
    async redefine(name: AdoptedName, change: Partial<ServiceDefinition> | "removed") {
      const { settings } = (await memory.projects.find(project.organizationId, project.id))!;
      const changed = (settings.services ?? []).flatMap((service) => {
        if (service.name !== name) return [service];
        return change === "removed" ? [] : [{ ...service, ...change }];
      });
      await useCases.changeProject(by, project.id, { settings: { services: changed } });
    },
    async running() {
      const own = (await memory.runtime.list()).filter(({ status }) => status !== "exited");
      const found = services.map(async (adopted) => {
        const names = { ...adopted, deploymentId: "dep_1", projectId: project.id };
        const container = await memory.runtime.find(adoptedInstanceId(names));
        const others = own.filter(
          ({ service, instanceId }) => service === adopted.service && !adoptedInstance(instanceId),
        );
        const all = [
          ...(container?.status === "exited" ? [] : ["adopted" as const]),
          ...others.map(() => "own" as const),
        ];
        return [adopted.service, all] as const;
      });
      return Object.fromEntries(await Promise.all(found));
    },
    resting: () =>
      services.filter(({ containerId }) => memory.runtime.resting.has(containerId)).map((each) => each.service),
  };
}
