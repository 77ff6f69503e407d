import type { Environment } from "../deployments/deployment.ts";
import { didYouMean } from "../did_you_mean.ts";
import { invalidField } from "../failure.ts";
import { variablesFor } from "../projects/service_variables.ts";
import type { Secret } from "../secret.ts";
import type { ServiceDefinition } from "./service_definition.ts";
import { givenContainer } from "./given_container.ts";
import { givenOrigin } from "./given_origin.ts";
import { portEntry } from "./port_notation.ts";
import { fieldValue } from "./field_value.ts";
import {
  DEPENDENCY_CONDITIONS,
  type DependencyCondition,
  type ServiceDependency,
  type ServiceSpec,
} from "./service_spec.ts";
import { cycleText, dependencyCycle } from "./dependency_cycle.ts";

const MOST_PORTS = 100;
const BAD_NAME = 'name the variable before the "=", without spaces';

/** The variables that a service can refer to, or `undefined` for any, and the environment that they are for. */
interface KnownVariables {
  readonly variables: ReadonlyMap<string, Secret> | undefined;
  readonly environment: Environment;
}

/**
 * Returns the specs of the services in a request. Variables that are only named are not resolved, because every service
 * gets the project's variables at the time of deployment. `variables` are the project's for the environment, including
 * those of single services; without them any name is allowed. Throws with the path of the invalid field.
 */
export function givenServices(
  definitions: readonly ServiceDefinition[],
  variables?: ReadonlyMap<string, Secret>,
  environment: Environment = "production",
): readonly ServiceSpec[] {
  const names = definitions.map(({ name }) => name);
  const repeated = names.findIndex((name, index) => names.indexOf(name) < index);
  if (repeated >= 0) throw invalidField(`services.${repeated}.name`, "another service has this name");
  const specs = definitions.map((definition, index) => {
    const known = { variables: variables && variablesFor(variables, definition.name), environment };
    return specOf(definition, `services.${index}`, { names, known });
  });
  const cycle = dependencyCycle(specs);
  if (cycle) throw invalidField(`services.${names.indexOf(cycle[0]!)}.dependsOn`, cycleText(cycle));
  const awaited = new Set(specs.flatMap(({ dependsOn }) => dependsOn.filter(isCompletion).map((one) => one.service)));
  return specs.map((spec) => (awaited.has(spec.name) ? { ...spec, oneShot: true } : spec));
}

function isCompletion({ condition }: ServiceDependency): boolean {
  return condition === "service_completed_successfully";
}

const RESTARTS = ["no", "always", "unless-stopped", "on-failure"];

function specOf(
  definition: ServiceDefinition,
  path: string,
  { names, known }: { readonly names: readonly string[]; readonly known: KnownVariables },
): ServiceSpec {
  if (
    definition.restart !== undefined &&
    !/^(?:no|always|unless-stopped|on-failure(?::\d{1,9})?)$/.test(definition.restart)
  )
    throw invalidField(
      `${path}.restart`,
      `use ${RESTARTS.join(", ")} or on-failure:3${didYouMean(definition.restart, RESTARTS)}`,
    );
  const named = namedIn(definition.environment ?? {});
  return {
    name: definition.name,
    from: givenOrigin(definition, path),
    environment: environmentOf(definition.environment ?? {}, `${path}.environment`, known),
    ...(named.length > 0 && { namedVariables: named }),
    ports: portsOf(definition.ports ?? [], `${path}.ports`),
    dependsOn: dependenciesOf(definition, `${path}.dependsOn`, names),
    oneShot: definition.oneShot ?? false,
    container: givenContainer(definition, path),
  };
}

function portsOf(given: readonly (string | number)[], path: string): readonly number[] {
  const entries = given.map((entry, index) => fieldValue(portEntry(entry), `${path}.${index}`));
  const ports = [...new Set(entries.flatMap((entry) => (entry.protocol === "tcp" ? entry.ports : [])))];
  if (ports.length > MOST_PORTS) throw invalidField(path, `a service has at most ${MOST_PORTS} ports`);
  return ports;
}

function environmentOf(
  given: NonNullable<ServiceDefinition["environment"]>,
  path: string,
  known: KnownVariables,
): Readonly<Record<string, string>> {
  const entries = isList(given)
    ? ownEntries(given, path, known)
    : Object.entries(given).map(([key, value]) => ({ key, value, at: `${path}.${key}` }));
  for (const { key, value, at } of entries) {
    if (key === "" || /[\s=\0]/.test(key)) throw invalidField(at, BAD_NAME);
    if (value.includes("\0")) throw invalidField(at, "no variable can contain a NUL character");
  }
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
}

/** Returns the variables that are named without a value. */
function namedIn(given: NonNullable<ServiceDefinition["environment"]>): readonly string[] {
  return isList(given) ? given.filter((entry) => !entry.includes("=")) : [];
}

function ownEntries(
  given: readonly string[],
  path: string,
  { variables, environment }: KnownVariables,
): readonly { readonly key: string; readonly value: string; readonly at: string }[] {
  return given.flatMap((entry, index) => {
    const at = `${path}.${index}`;
    const end = entry.indexOf("=");
    if (end >= 0) return [{ key: entry.slice(0, end), value: entry.slice(end + 1), at }];
    if (entry === "" || /[\s\0]/.test(entry)) throw invalidField(at, BAD_NAME);
    if (variables && !variables.has(entry)) throw invalidField(at, missingVariable(environment));
    return [];
  });
}

function missingVariable(environment: Environment): string {
  return environment === "preview"
    ? 'previews of the project have no variable of this name; set it for previews, or write it as "NAME=value"'
    : 'the project has no variable of this name; set it, or write it as "NAME=value"';
}

function dependenciesOf(
  { name, dependsOn = [] }: ServiceDefinition,
  path: string,
  names: readonly string[],
): readonly ServiceDependency[] {
  const dependencies = isList(dependsOn)
    ? dependsOn.map((service, index) => ({ service, condition: "service_started", at: `${path}.${index}` }))
    : Object.entries(dependsOn).map(([service, { condition }]) => ({ service, condition, at: `${path}.${service}` }));
  const seen = new Set<string>();
  return dependencies.map(({ service, condition, at }) => {
    if (service === name) throw invalidField(at, "a service cannot wait for itself");
    if (!names.includes(service)) throw invalidField(at, "there is no service of this name");
    if (seen.has(service)) throw invalidField(at, "this service is named twice");
    seen.add(service);
    if (!isCondition(condition)) throw invalidField(at, `use ${DEPENDENCY_CONDITIONS.join(", ")}`);
    return { service, condition, restart: false, required: true };
  });
}

function isCondition(text: string): text is DependencyCondition {
  return (DEPENDENCY_CONDITIONS as readonly string[]).includes(text);
}

function isList<T>(given: readonly T[] | object): given is readonly T[] {
  return Array.isArray(given);
}
