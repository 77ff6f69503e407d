import type { DeploymentPlan } from "../../../../domain/deployments/deployment.ts";
import { settledPlan } from "../../../../domain/services/app_plan.ts";
import type { ServiceRecord } from "../../../../domain/services/service_set.ts";
import type { ServiceSpec } from "../../../../domain/services/service_spec.ts";
import { detectIn } from "../../sources/detect_in.ts";
import type { Run } from "../run.ts";
import { commandsOf } from "./build_in_folder.ts";

/** A run with the ports of this step. */
type StepRun = Run<"manifestParser" | "releaseFolders">;

/**
 * Input digests of the services that are built in the release folder: each covers its own folder, or the whole source
 * if it may use other parts.
 */
export async function folderDigests(
  run: StepRun,
  wanted: readonly ServiceRecord[],
): Promise<ReadonlyMap<string, string>> {
  const { id, plan } = run.deployment;
  const digests = new Map<string, string>();
  for (const { spec } of wanted) {
    const { from } = spec;
    const own = from.kind === "image" ? undefined : settledPlan({ ...spec, from }, plan.runtime);
    if (!own || !isBuiltInFolder(own)) continue;
    const root = own.rootDirectory ?? "";
    const found = await detectIn(run.ports, id, root === "" ? "" : `${root}/`);
    const source = await run.ports.releaseFolders.digest(id, found.image?.wholeRepository ? "" : root);
    const commands = commandsOf(own);
    const how = commands.length === 0 ? [] : [run.deployment.buildTag, ...commands.map(({ command }) => command)];
    digests.set(spec.name, [source?.digest ?? "", ...how].join("+"));
  }
  return digests;
}

/** Whether a service is built in the release folder itself, without an image. */
export function isBuiltInFolder(plan: DeploymentPlan): boolean {
  return plan.runtime !== "docker" || isPlainSite(plan);
}

/** A static site without install or build commands. */
function isPlainSite({ buildCommand, installCommand, projectType }: DeploymentPlan): boolean {
  return projectType === "static" && installCommand === null && buildCommand === null;
}

/** The digest of the source files that a service mounts; `null` if it mounts none. */
export async function mountedDigest(
  { deployment, ports }: StepRun,
  { container }: ServiceSpec,
): Promise<string | null> {
  const digests: string[] = [];
  for (const mount of container.mounts) {
    if (mount.kind !== "source") continue;
    const found = await ports.releaseFolders.digest(deployment.id, mount.path);
    digests.push(`${mount.target}=${found?.digest ?? ""}`);
  }
  return digests.length === 0 ? null : digests.join("+");
}
