import { engineNeeded, invalid } from "../../../../domain/failure.ts";
import type { RuntimeName } from "../../../../domain/projects/project.ts";
import { isVariableKey } from "../../../../domain/projects/variable.ts";
import { PLAIN_CONTAINER, type ServiceSpec } from "../../../../domain/services/service_spec.ts";
import type { ContainerEngine } from "../../../../ports/deployments/container_engine.ts";
import { ENGINE_MS } from "./choose_runtime.ts";

/** What decides about the runtime of services. */
export interface ServicesRuntimeOptions {
  readonly wanted: RuntimeName | "auto";
  readonly containerEngine: ContainerEngine;
  readonly isOnServer?: boolean;
}

/**
 * Chooses one runtime for all services: containers or processes. Rejects an impossible choice before anything is
 * started.
 */
export async function chooseServicesRuntime(
  specs: readonly ServiceSpec[],
  { wanted, containerEngine, isOnServer = false }: ServicesRuntimeOptions,
): Promise<RuntimeName> {
  const unfit = specs.map(unfitForProcess).find((reason) => reason !== undefined);
  if (wanted === "process" && unfit) {
    throw invalid("runtime_unsupported", `${unfit}. Set the runtime of the project to "docker"`);
  }
  if (wanted === "process") return wanted;
  // What starts there says why a server cannot be reached.
  if (isOnServer) return "docker";
  if (await containerEngine.answers({ withinMs: ENGINE_MS })) return "docker";
  if (wanted === "docker") throw engineNeeded("it is to run in containers");
  if (!unfit) return "process";
  throw engineNeeded(unfit.replace(/^Cannot run (.*) as a process: /, "$1 cannot run as a process: "));
}

/** Returns whether all services could run without containers. */
export function fitProcesses(specs: readonly ServiceSpec[]): boolean {
  return specs.every((spec) => unfitForProcess(spec) === undefined);
}

/** Why a service cannot run as a process. */
function unfitForProcess({ container, environment, from, name }: ServiceSpec): string | undefined {
  const cannot = `Cannot run ${name} as a process`;
  if (from.kind === "image") return `${cannot}: it needs the image ${from.reference}`;
  if (from.kind === "dockerfile") return `${cannot}: it is built by a Dockerfile`;
  if (container.mounts.length > 0) return `${cannot}: it has volumes`;
  if (container.files.length > 0) return `${cannot}: it has configs or secrets`;
  const variable = Object.keys(environment).find((key) => !isVariableKey(key));
  if (variable !== undefined) return `${cannot}: no shell can set its variable ${variable}`;
  const { limits: _, labels: __, aliases: ___, stopGraceMs: ____, ...rest } = container;
  const plain: Readonly<Record<string, unknown>> = { ...PLAIN_CONTAINER };
  const odd = Object.entries(rest).find(([field, value]) => JSON.stringify(value) !== JSON.stringify(plain[field]));
  return odd && `${cannot}: its ${odd[0]} counts for containers only`;
}
