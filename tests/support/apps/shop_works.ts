import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { EngineScene } from "./engine_scene.ts";
import { deployShop, SHOP, shop, type Versions } from "./service_scene.ts";

/** An operation that a server crash can interrupt and another server has to finish. */
export interface ShopWork {
  readonly name: string;
  /** Sets up the state before. Resolves to the deployment that the operation is about, if one exists already. */
  readonly before: (scene: EngineScene, project: Project) => Promise<Deployment | undefined>;
  /** Requests the operation; resolves to the id of the deployment to check. */
  readonly ask: (scene: EngineScene, project: Project, about: Deployment | undefined) => Promise<string>;
  readonly isOver: (deployment: Deployment) => boolean;
  readonly status: Deployment["status"];
  /** The versions that run afterwards. */
  readonly runs: Versions;
  readonly ends: number;
}

const CHANGED = { ...SHOP, api: "2", worker: "2" };
const UNKNOWN = { ...SHOP, api: "2", worker: "unknown" };
const BROKEN = { ...SHOP, api: "2", worker: "bad" };

/** The operations that a server performs on a shop. */
export const SHOP_WORKS: readonly ShopWork[] = [
  {
    name: "a first deployment",
    before: async () => undefined,
    ask: async (scene, project) => (await scene.deploy(project, { services: shop(SHOP) })).id,
    isOver: ({ finishedAt }) => finishedAt !== null,
    status: "ready",
    runs: SHOP,
    ends: 1,
  },
  {
    name: "a deployment that changes two services",
    before: async (scene, project) => void (await deployShop(scene, project, SHOP)),
    ask: async (scene, project) => (await scene.deploy(project, { services: shop(CHANGED) })).id,
    isOver: ({ finishedAt }) => finishedAt !== null,
    status: "ready",
    runs: CHANGED,
    ends: 1,
  },
  {
    name: "a deployment that fails partially",
    before: async (scene, project) => void (await deployShop(scene, project, SHOP)),
    ask: async (scene, project) => (await scene.deploy(project, { services: shop(BROKEN) })).id,
    isOver: ({ finishedAt }) => finishedAt !== null,
    status: "partial_failure",
    runs: { ...SHOP, api: "2" },
    ends: 1,
  },
  {
    name: "a deployment with an image that cannot be pulled",
    before: async (scene, project) => void (await deployShop(scene, project, SHOP)),
    ask: async (scene, project) => (await scene.deploy(project, { services: shop(UNKNOWN) })).id,
    isOver: ({ finishedAt }) => finishedAt !== null,
    status: "partial_failure",
    runs: { ...SHOP, api: "2" },
    ends: 1,
  },
  {
    name: "keep",
    before: broken,
    ask: (scene, _, about) => decided(scene, about!, "keep"),
    isOver: ({ decision }) => decision === "kept",
    status: "ready",
    runs: { ...SHOP, api: "2" },
    ends: 2,
  },
  {
    name: "reject",
    before: broken,
    ask: (scene, _, about) => decided(scene, about!, "reject"),
    isOver: ({ decision }) => decision === "rejected",
    status: "rejected",
    runs: SHOP,
    ends: 2,
  },
];

async function broken(scene: EngineScene, project: Project): Promise<Deployment> {
  await deployShop(scene, project, SHOP);
  return deployShop(scene, project, BROKEN);
}

/** Requests a decision without awaiting its response, because the caller dies with the server. */
async function decided(scene: EngineScene, { id }: Deployment, what: "keep" | "reject"): Promise<string> {
  const decision =
    what === "keep" ? scene.useCases.keepDeployment(scene.by, id) : scene.useCases.rejectDeployment(scene.by, id);
  decision.catch(() => {});
  await scene.until(id, (deployment) => deployment.pendingDecision !== null);
  return id;
}
