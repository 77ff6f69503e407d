import type { FoundContainer } from "./inventory.ts";
import type { StackService } from "./stack.ts";

/** Names are part of the ids of instances. */
const LONGEST = 40;

/** A container with the name that it gets as a service of the project. */
export interface NamedContainer {
  readonly name: string;
  readonly service: StackService;
  readonly container: FoundContainer;
}

/**
 * Names the containers of the chosen services: like their service, with the compose project before it where two
 * services have the same name, and with a number from the second container of a service on.
 */
export function adoptedNames(chosen: readonly StackService[]): readonly NamedContainer[] {
  const taken = new Set<string>();
  const count = new Map<string, number>();
  for (const { name } of chosen) count.set(plain(name), (count.get(plain(name)) ?? 0) + 1);
  return chosen.flatMap((service) => {
    const isShared = count.get(plain(service.name))! > 1 && service.project !== null;
    const base = plain(isShared ? `${service.project}-${service.name}` : service.name);
    return service.containers.map((container, index) => {
      const name = free(index === 0 ? base : numbered(base, index + 1), taken);
      taken.add(name);
      return { name, service, container };
    });
  });
}

function free(name: string, taken: ReadonlySet<string>): string {
  let unique = name;
  for (let number = 2; taken.has(unique); number++) unique = numbered(name, number);
  return unique;
}

function numbered(name: string, number: number): string {
  const ending = `-${number}`;
  return `${name.slice(0, LONGEST - ending.length)}${ending}`;
}

/** Ids of instances have letters, digits, `_` and `-`. */
function plain(name: string): string {
  const word = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return word.slice(0, LONGEST) || "service";
}
