import { invalid } from "../failure.ts";
import type { ServiceDependency } from "./service_spec.ts";

/** What an order needs to know of a service. */
export interface Ordered {
  readonly name: string;
  readonly dependsOn: readonly Pick<ServiceDependency, "service">[];
}

/** The services in an order in which those that others wait for come first, else as they were given. Fails on a circle, which it names. */
export function startOrder<S extends Ordered>(services: readonly S[]): readonly S[] {
  const circle = dependencyCircle(services);
  if (circle) {
    throw invalid(
      "dependency_circle",
      `Cannot start these services: ${circleText(circle)}, so none of them can be the first. Take one of these dependencies away`,
    );
  }
  const byName = new Map(services.map((service) => [service.name, service]));
  const ordered = new Set<S>();
  const enter = (service: S) => {
    if (ordered.has(service)) return;
    for (const dependency of service.dependsOn) {
      const other = byName.get(dependency.service);
      if (other) enter(other);
    }
    ordered.add(service);
  };
  for (const service of services) enter(service);
  return [...ordered];
}

/** Services that wait for each other in a circle, in its order; `undefined` when there is none. */
export function dependencyCircle(services: readonly Ordered[]): readonly string[] | undefined {
  const byName = new Map(services.map((service) => [service.name, service]));
  const cleared = new Set<string>();
  const walk = (name: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(name)) return path.slice(path.indexOf(name));
    if (cleared.has(name)) return undefined;
    for (const { service } of byName.get(name)?.dependsOn ?? []) {
      const circle = walk(service, [...path, name]);
      if (circle) return circle;
    }
    cleared.add(name);
    return undefined;
  };
  for (const { name } of services) {
    const circle = walk(name, []);
    if (circle) return circle;
  }
  return undefined;
}

/** A circle as words: who waits for whom. */
export function circleText(circle: readonly string[]): string {
  if (circle.length === 1) return `"${circle[0]}" waits for itself`;
  return circle.map((name, at) => `"${name}" waits for "${circle[(at + 1) % circle.length]}"`).join(" and ");
}
