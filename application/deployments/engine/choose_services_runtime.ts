import { Failure, invalid } from "../../../domain/failure.ts";
import type { RuntimeName } from "../../../domain/project.ts";
import { PLAIN_CONTAINER, type ServiceSpec } from "../../../domain/composition/service_spec.ts";
import type { ContainerEngine } from "../../../ports/container_engine.ts";

/** What runs services: all of them as containers, or all as processes; what cannot be is refused before anything is started. */
export async function chooseServicesRuntime(
  specs: readonly ServiceSpec[],
  { wanted, containerEngine }: { readonly wanted: RuntimeName | "auto"; readonly containerEngine: ContainerEngine },
): Promise<RuntimeName> {
  const unfit = specs.map(unfitForProcess).find((reason) => reason !== undefined);
  if (wanted === "docker") return wanted;
  if (wanted === "process" && unfit) {
    throw invalid("runtime_unsupported", `${unfit}. Set the runtime of the project to "docker"`);
  }
  if (wanted === "process") return wanted;
  if (await containerEngine.answers()) return "docker";
  if (!unfit) return "process";
  throw new Failure(
    "unavailable",
    "engine_away",
    `${unfit}, and Docker does not answer. Start Docker and deploy again`,
  );
}

/** Why a service cannot run as a process. */
function unfitForProcess({ container, from, name }: ServiceSpec): string | undefined {
  const cannot = `Cannot run ${name} as a process`;
  if (from.kind === "image") return `${cannot}: it needs the image ${from.reference}`;
  if (from.kind === "dockerfile") return `${cannot}: it is built by a Dockerfile`;
  if (container.mounts.length > 0) return `${cannot}: it has volumes`;
  if (container.files.length > 0) return `${cannot}: it has configs or secrets`;
  const { limits: _, labels: __, aliases: ___, stopGraceMs: ____, ...rest } = container;
  const plain: Readonly<Record<string, unknown>> = { ...PLAIN_CONTAINER };
  const odd = Object.entries(rest).find(([field, value]) => JSON.stringify(value) !== JSON.stringify(plain[field]));
  return odd && `${cannot}: its ${odd[0]} counts for containers only`;
}
