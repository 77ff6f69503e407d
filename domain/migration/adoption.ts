import { dependencyCycle } from "../services/dependency_cycle.ts";
import { serviceKeyProblem } from "../projects/service_variables.ts";
import type { VariableUpsert } from "../projects/variable.ts";
import type { Secret } from "../secret.ts";
import type { ServiceDefinition } from "../services/service_definition.ts";
import { adoptedDefinition } from "./adopted_definition.ts";
import { adoptedNames, type NamedContainer } from "./adopted_names.ts";
import { serviceWarnings } from "./service_warnings.ts";
import { looksSecret } from "./secret_looking.ts";
import type { StackService } from "./stack.ts";

/** Why containers cannot be adopted twice. */
export const ALREADY_ADOPTED =
  "Cannot adopt this: another project has adopted one of these containers meanwhile. Scan the server again";

/** A container that became a service of a project. */
export interface AdoptedService {
  /** The name of the service in the project. */
  readonly service: string;
  /** The service on the server: `project/service`, or the name of the container. */
  readonly key: string;
  /** The server that it was found on. */
  readonly serverId: string;
  readonly containerId: string;
  readonly containerName: string;
  readonly imageId: string;
  /** Whether it ran when it was adopted. */
  readonly running: boolean;
  /** The definition that the project got. Where the project still has it, the recipe holds. */
  readonly definition: ServiceDefinition;
  /** The environment that the container was started with, without what its image brings along. */
  readonly environment: ReadonlyMap<string, Secret>;
  /** What creates the same container again; see `FoundContainer`. */
  readonly recipe: Secret;
}

/** A project that reproduces running containers. */
export interface Adoption {
  readonly services: readonly AdoptedService[];
  /** The environment of each container, without what its image brings along, as variables of its service. */
  readonly variables: readonly VariableUpsert[];
  readonly warnings: readonly string[];
}

/** Turns services of a server into those of a project: one for each container. */
export function adoptionOf(chosen: readonly StackService[], serverId: string): Adoption {
  const named = adoptedNames(chosen);
  const read = withoutCircles(named.map((each) => adopted(each, named, serverId)));
  return {
    services: read.map(({ service }) => service),
    variables: read.flatMap(({ variables }) => variables),
    warnings: [...new Set([...chosen.flatMap(serviceWarnings), ...read.flatMap(({ warnings }) => warnings)])],
  };
}

type Adopted = Pick<Adoption, "variables" | "warnings"> & { readonly service: AdoptedService };

/** Containers that were created at different times can wait for each other, which services of a project cannot. */
function withoutCircles(all: readonly Adopted[]): readonly Adopted[] {
  const dependents = all.map(({ service: { definition, service: name } }) => {
    const names = Array.isArray(definition.dependsOn) ? definition.dependsOn : [];
    return { name, dependsOn: names.map((service: string) => ({ service })) };
  });
  const [first] = dependencyCycle(dependents) ?? [];
  if (first === undefined) return all;
  return withoutCircles(
    all.map((each) => {
      if (each.service.service !== first) return each;
      const { dependsOn: _, ...definition } = each.service.definition;
      const warning = `${each.service.key}: left out which services it waits for, because they wait for it`;
      return { ...each, service: { ...each.service, definition }, warnings: [...each.warnings, warning] };
    }),
  );
}

function adopted(each: NamedContainer, all: readonly NamedContainer[], serverId: string): Adopted {
  const { container, name, service } = each;
  const { definition, warnings } = adoptedDefinition(each, all);
  const own = [...container.environment].filter(
    ([key, value]) => container.imageFacts?.environment.get(key)?.reveal() !== value.reveal(),
  );
  const usable = own.filter(([key]) => serviceKeyProblem(`${name}/${key}`) === undefined);
  const left = own.filter((entry) => !usable.includes(entry)).map(([key]) => JSON.stringify(key));
  const renamed = name === service.name ? [] : [`${container.name} becomes the service ${name} of the project`];
  const unusable = `${service.key}: left out ${left.join(", ")}: names of variables have no spaces, "=" or control characters`;
  return {
    service: {
      service: name,
      key: service.key,
      serverId,
      containerId: container.id,
      containerName: container.name,
      imageId: container.imageId,
      running: container.state === "running",
      definition,
      environment: new Map(usable),
      recipe: container.recipe,
    },
    variables: usable.map(([key, value]) => ({
      key: `${name}/${key}`,
      value,
      secret: looksSecret(key, value.reveal()),
    })),
    warnings: [...renamed, ...warnings, ...(left.length > 0 ? [unusable] : [])],
  };
}
