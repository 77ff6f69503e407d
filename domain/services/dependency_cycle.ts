import type { ServiceDependency } from "./service_spec.ts";

/** A service and its dependencies. */
export interface Dependent {
  readonly name: string;
  readonly dependsOn: readonly Pick<ServiceDependency, "service">[];
}

/** Returns the services of a dependency cycle, in order; `undefined` if there is none. */
export function dependencyCycle(services: readonly Dependent[]): readonly string[] | undefined {
  const byName = new Map(services.map((service) => [service.name, service]));
  const cleared = new Set<string>();
  const walk = (name: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(name)) return path.slice(path.indexOf(name));
    if (cleared.has(name)) return undefined;
    for (const { service } of byName.get(name)?.dependsOn ?? []) {
      const cycle = walk(service, [...path, name]);
      if (cycle) return cycle;
    }
    cleared.add(name);
    return undefined;
  };
  for (const { name } of services) {
    const cycle = walk(name, []);
    if (cycle) return cycle;
  }
  return undefined;
}

/** Describes a dependency cycle: which service waits for which. */
export function cycleText(cycle: readonly string[]): string {
  if (cycle.length === 1) return `"${cycle[0]}" waits for itself`;
  return cycle.map((name, at) => `"${name}" waits for "${cycle[(at + 1) % cycle.length]}"`).join(" and ");
}
