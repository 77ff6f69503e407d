import { LibraryManifestParser } from "../../../adapters/manifests/manifest_parser.ts";
import type { ServiceDefinition } from "../../../domain/services/service_definition.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { Project, ProjectSettings } from "../../../domain/projects/project.ts";
import type { Instance } from "../../../ports/services/runtime.ts";
import { EngineScene, type SceneOptions } from "./engine_scene.ts";
import { patientYamlReader } from "../faults/patient_yaml_reader.ts";

/** The version of each service of a shop. A version that begins with "bad" crashes on start. */
export type Versions = Readonly<Record<string, string>>;

export const SHOP = { web: "1", api: "1", worker: "1", migrate: "1", db: "1" } as const;

const DEFINITIONS: Readonly<Record<string, Omit<ServiceDefinition, "name">>> = {
  web: { ports: [8080], dependsOn: { api: { condition: "service_healthy" } } },
  api: { ports: [3000], dependsOn: { migrate: { condition: "service_completed_successfully" } } },
  worker: {
    dependsOn: { db: { condition: "service_healthy" }, migrate: { condition: "service_completed_successfully" } },
  },
  migrate: { oneShot: true, dependsOn: { db: { condition: "service_healthy" } } },
  db: { volumes: ["data:/data"] },
};

export const ENDPOINTS = [{ service: "web" }, { service: "api", targetPath: "/api" }] as const;

/** The service definitions of a shop in these versions. */
export function shop(wanted: Versions): readonly ServiceDefinition[] {
  return Object.entries(wanted).map(([name, version]) => ({
    name,
    image: `${name}:${version}`,
    ...DEFINITIONS[name],
  }));
}

/** Opens a scene with the Docker runtime in which every image of a shop exists. */
export async function shopScene(options: SceneOptions = {}): Promise<EngineScene> {
  const scene = await EngineScene.open({
    ...options,
    engine: { runtime: "docker", ...options.engine },
    replace: (world) => ({
      manifestParser: new LibraryManifestParser(),
      yamlReader: patientYamlReader(),
      ...options.replace?.(world),
    }),
  });
  const { imageRegistry, runtime } = scene.memory;
  for (const name of Object.keys(SHOP)) {
    for (const version of ["1", "2", "3", "bad", "bad2"]) {
      const image = digestOf(`${name}:${version}`);
      imageRegistry.known.set(`${name}:${version}`, { image, port: null });
      imageRegistry.known.set(`docker.io/library/${name}:${version}`, { image, port: null });
      if (version.startsWith("bad")) runtime.scripts.set(image, { does: "ends", code: 3, prints: ["it went wrong"] });
    }
  }
  return scene;
}

export function digestOf(reference: string): string {
  return `sha256:${new Bun.CryptoHasher("sha256").update(reference).digest("hex")}`;
}

/** Creates a project without a source. */
export function shopProject(scene: EngineScene, settings: ProjectSettings = {}): Promise<Project> {
  return scene.project({ publicEndpoints: ENDPOINTS, ...settings });
}

/** Deploys a shop in these versions and waits until the deployment has settled. */
export async function deployShop(scene: EngineScene, project: Project, wanted: Versions): Promise<Deployment> {
  scene.memory.clock.advance(1_000);
  return scene.deployed(project, { services: shop(wanted) });
}

/** The running instances of the live release by service, without those being retired. */
export async function runningServices(scene: EngineScene, project: Project): Promise<Record<string, Instance>> {
  const live = await scene.memory.liveReleases.find(project.id);
  const found: Record<string, Instance> = {};
  for (const { name, instanceId } of live?.deployment.services ?? []) {
    const instance = instanceId ? await scene.memory.runtime.find(instanceId) : undefined;
    if (instance) found[name] = instance;
  }
  return found;
}

/** The version of the image that each service runs. */
export async function versions(scene: EngineScene, project: Project): Promise<Record<string, string>> {
  const all = ["1", "2", "3", "bad", "bad2"];
  const running = Object.entries(await runningServices(scene, project));
  return Object.fromEntries(
    running.map(([name, { image }]) => [name, all.find((version) => digestOf(`${name}:${version}`) === image) ?? "?"]),
  );
}

/** The status of each service in a deployment. */
export function statuses({ services }: Deployment): Record<string, string> {
  return Object.fromEntries(services.map(({ name, status }) => [name, status]));
}
