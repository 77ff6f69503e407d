import { didYouMean } from "../did_you_mean.ts";
import { conflict, invalid, invalidField } from "../failure.ts";
import { REMOVED_AT_END } from "./service_warnings.ts";
import { servicesIn, type Stack, type StackService } from "./stack.ts";

const MAX_LISTED = 30;

/**
 * Finds the services that a caller names by key, or by a bare name that only one of them has. Throws for a name that
 * fits none or several, and for services that cannot be adopted.
 */
export function chosenServices(stack: Stack, names: readonly string[]): readonly StackService[] {
  const all = servicesIn(stack);
  const chosen = names.map((name, index) => chosenOne(stack, all, { name, path: `serviceNames.${index}` }));
  return [...new Set(chosen)];
}

function chosenOne(
  { managed }: Stack,
  all: readonly StackService[],
  { name, path }: { readonly name: string; readonly path: string },
): StackService {
  const byKey = all.find(({ key }) => key === name);
  const fitting = byKey ? [byKey] : all.filter((service) => service.name === name);
  if (fitting.length > 1) {
    const keys = fitting.map(({ key }) => key);
    throw invalid("service_ambiguous", `Cannot tell which service "${name}" is: use one of ${keys.join(", ")}`, {
      details: [{ path, message: `use one of ${keys.join(", ")}` }],
    });
  }
  const [found] = fitting;
  if (found === undefined) {
    refuseManaged(managed, { name, path });
    throw invalidField(path, unknown(name, all));
  }
  if (found.containers.length === 0) {
    throw invalidField(path, "there is no container of this service. Start it on the server first, then scan again");
  }
  if (found.containers.some(({ removedAtEnd }) => removedAtEnd)) throw invalidField(path, REMOVED_AT_END);
  return found;
}

function refuseManaged(
  managed: Stack["managed"],
  { name, path }: { readonly name: string; readonly path: string },
): void {
  const known = managed.find(
    ({ container, key }) => key === name || container.name === name || key.endsWith(`/${name}`),
  );
  if (!known) return;
  const { holder } = known;
  if (holder === null) throw invalidField(path, "Slipway started this container, so there is nothing to adopt");
  throw conflict(
    "already_adopted",
    `Cannot adopt "${name}": it is the service "${holder.service}" of the project "${holder.projectName}" already`,
  );
}

function unknown(name: string, all: readonly StackService[]): string {
  const keys = all.map(({ key }) => key);
  if (keys.length === 0) return "nothing runs on the server that could be adopted";
  const more = keys.length > MAX_LISTED ? " and others" : "";
  const near = didYouMean(name, keys);
  return `there is no such service on the server${near}. There are ${keys.slice(0, MAX_LISTED).join(", ")}${more}`;
}
