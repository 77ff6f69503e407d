import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadCompose } from "../../../application/deployments/sources/load_compose.ts";
import { PLAIN_CONTAINER, type ServiceSpec } from "../../../domain/services/service_spec.ts";
import { Failure } from "../../../domain/failure.ts";
import { Secret } from "../../../domain/secret.ts";
import { patientYamlReader } from "../faults/patient_yaml_reader.ts";

/** The folder of the compose file test cases. */
export const COMPOSE_CASES = join(import.meta.dirname, "../../domain/compose_cases");

/** The names of the compose file test cases. */
export const composeCases: readonly string[] = readdirSync(COMPOSE_CASES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();

/** Options for loading a compose file. */
export interface ComposeOptions {
  readonly root?: string;
  readonly file?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** The services and warnings of a case's compose file, or its problems. */
export async function composeSays(files: ReadonlyMap<string, Uint8Array>, options: ComposeOptions): Promise<object> {
  const releaseFolders = {
    read: async (_id: string, path: string, { maxBytes }: { readonly maxBytes: number }) => {
      const bytes = files.get(path);
      return bytes && bytes.length <= maxBytes ? bytes : undefined;
    },
  };
  const variables = new Map(Object.entries(options.variables ?? {}).map(([key, value]) => [key, new Secret(value)]));
  const load = loadCompose({ yamlReader: patientYamlReader(), releaseFolders });
  try {
    const meant = { root: options.root ?? "", file: options.file ?? "compose.yaml", variables };
    const { services, warnings } = await load("one", meant);
    return { services: services.map(comparable), ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "compose_invalid") throw error;
    return { problems: error.details?.map(({ path, message }) => `${path}: ${message}`) ?? [error.message] };
  }
}

/** Omits the values that a plain container has, too. */
function comparable({ container, environment, ports, dependsOn, oneShot, ...rest }: ServiceSpec): object {
  const { limits, ...own } = container;
  const inside = { ...different(own, PLAIN_CONTAINER), ...nested("limits", different(limits, PLAIN_CONTAINER.limits)) };
  return {
    ...rest,
    ...nested("environment", environment),
    ...nested("ports", ports),
    ...nested("dependsOn", dependsOn),
    ...(oneShot && { oneShot }),
    ...nested("container", inside),
  };
}

function different(one: object, usual: object): object {
  const plain = new Map<string, unknown>(Object.entries(usual));
  return Object.fromEntries(Object.entries(one).filter(([key, value]) => !Bun.deepEquals(value, plain.get(key))));
}

function nested(key: string, value: object): object {
  return Object.keys(value).length > 0 ? { [key]: value } : {};
}
