import { PLAIN_CONTAINER, RECIPE_PARTS, type RecipePart, type ServiceSpec } from "../services/service_spec.ts";
import type { ServiceDefinition } from "../services/service_definition.ts";
import type { ServiceRecord } from "../services/service_set.ts";
import type { AdoptedService } from "./adoption.ts";

/**
 * Returns the spec of an adopted service: it runs like the container that it was adopted from, except for what its
 * definition says otherwise since. Its ports are published as they were; visitors only reach those that an endpoint of
 * the project names.
 */
export function adoptedSpec(spec: ServiceSpec, definition: ServiceDefinition, adopted: AdoptedService): ServiceSpec {
  const without = RECIPE_PARTS.filter((part) => !isAlike(definition[part], adopted.definition[part]));
  const { container } = spec;
  const own = <T>(part: RecipePart, value: T, otherwise: T): T => (without.includes(part) ? value : otherwise);
  return {
    ...spec,
    ports: [],
    container: {
      ...PLAIN_CONTAINER,
      entrypoint: own("entrypoint", container.entrypoint, null),
      command: own("command", container.command, null),
      healthcheck: own("healthcheck", container.healthcheck, null),
      mounts: own("volumes", container.mounts, []),
      limits: own("resources", container.limits, PLAIN_CONTAINER.limits),
      recipe: {
        text: adopted.recipe.reveal(),
        without,
        ...(without.includes("ports") && { ports: (definition.ports ?? []).map(String) }),
      },
    },
  };
}

/** Returns the record of a service as its container was found, to compare it with what the project wants now. */
export function foundRecord(spec: ServiceSpec, adopted: AdoptedService): ServiceRecord {
  const recipe = { text: adopted.recipe.reveal(), without: [] };
  const { oneShot = false } = adopted.definition;
  const environment = Object.fromEntries(Array.from(adopted.environment, ([key, value]) => [key, value.reveal()]));
  return {
    spec: { ...spec, environment, ports: [], oneShot, container: { ...PLAIN_CONTAINER, recipe } },
    image: adopted.imageId,
    madeFrom: null,
  };
}

function isAlike(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
