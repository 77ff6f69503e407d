import type { MemoryWorld } from "../../../adapters/memory/memory_world.ts";
import type { BuildPrompt, Deployment } from "../../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../../domain/deployments/deployment_event.ts";
import type { World } from "../../../ports/world.ts";
import { logLine } from "../database/store_builders.ts";

/** The ports that the furnished deployments need. */
export type ArrangedWorld = Pick<World, "clock" | "deployKeys" | "deployments" | "projects"> &
  Pick<MemoryWorld, "runtime" | "sources">;

/** The ids of deployments, by the state that routes need. */
export interface DeploymentIds {
  readonly queued: string;
  readonly cancellable: string;
  /** Awaits an approval. */
  readonly asking: string;
  /** Ready, running and live. */
  readonly released: string;
  readonly failed: string;
  /** A ready preview. */
  readonly preview: string;
}

/** Moves queued deployments into the states that they are named after, as the engine would. */
export async function furnishDeployments(world: ArrangedWorld, ids: DeploymentIds): Promise<DeploymentIds> {
  world.sources.known.git["https://git.example.com/acme/harbour.git"] = {
    commits: [{ sha: "a".repeat(40), message: "First", branches: ["main"], files: { "index.html": "<h1>Hi</h1>" } }],
  };
  const at = world.clock.now();
  const { organizationId, projectId } = (await world.deployments.get(ids.released))!;
  const instanceId = `${ids.released}-app-1`;
  await world.runtime.start({
    instanceId,
    deploymentId: ids.released,
    projectId,
    service: "app",
    scope: projectId,
    runs: { kind: "folder", folder: "/releases/x", workingFolder: "/releases/x", command: "serve" },
    environment: new Map(),
  });
  const done = { finishedAt: at, startedAt: at };
  await become(world, ids.asking, { status: "building", held: true, startedAt: at, prompt: openPrompt(at) });
  await become(
    world,
    ids.released,
    {
      ...done,
      status: "ready",
      builtAt: at,
      commitSha: "a".repeat(40),
      artifactAvailable: true,
      services: [{ name: "app", status: "healthy", url: null, error: null, instanceId, site: null }],
    },
    [logLine("Built"), { type: "end", status: "ready", decision: null, error: null }],
  );
  const activeDeploymentId = ids.released;
  await world.projects.change(organizationId, projectId, { at, change: () => ({ activeDeploymentId }) });
  await become(world, ids.preview, { ...done, status: "ready", builtAt: at, artifactAvailable: true });
  const error = { code: "build_failed", message: "Cannot finish the build", step: "build" as const };
  await become(world, ids.failed, { ...done, status: "failed", error });
  return ids;
}

async function become(
  { deployments }: ArrangedWorld,
  id: string,
  state: Partial<Deployment>,
  events: readonly NewEvent[] = [],
): Promise<void> {
  await deployments.change(id, (deployment) => ({ deployment: { ...deployment, ...state }, events }));
}

/** The prompt of the deployment that awaits an approval. */
export const PROMPT_ID = "prompt-1";

function openPrompt(at: Date): BuildPrompt {
  return {
    promptId: PROMPT_ID,
    title: "Approve this build",
    message: "Build it?",
    actions: [
      { id: "approve", label: "Build it" },
      { id: "reject", label: "Cancel it" },
    ],
    expiresAt: new Date(at.getTime() + 3_600_000),
    answer: null,
  };
}
