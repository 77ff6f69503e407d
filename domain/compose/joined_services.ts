import { dependencyCycle } from "../services/dependency_cycle.ts";
import type { ServiceDependency, ServiceOrigin, ServiceSpec } from "../services/service_spec.ts";
import { checkSourceMounts } from "./check_source_mounts.ts";
import { nearestWord } from "../nearest_word.ts";
import { type Notes, quoted } from "./notes.ts";
import type { ReadService } from "./read_service.ts";

/**
 * Each alias that moves from one release to the next needs a network of its own, and a host has some thousand for all
 * projects.
 */
const MOST_ALIASES = 50;
const ALIAS = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;

/**
 * Resolves what depends on several services: dependencies, one-shot services, shared images and aliases. `left` are the
 * services that are not started.
 */
export function joinedServices(
  notes: Notes,
  services: readonly ReadService[],
  left: ReadonlySet<string>,
): readonly ServiceSpec[] {
  const names = new Set(services.map(({ spec }) => spec.name));
  const waited = services.map((one) => ({ one, dependsOn: dependenciesOf(notes, one, { names, left }) }));
  const awaited = new Set(
    waited.flatMap(({ dependsOn }) =>
      dependsOn.flatMap(({ condition, service }) => (condition === "service_completed_successfully" ? [service] : [])),
    ),
  );
  const built = new Map(
    services.flatMap(({ builtAs, spec }) => (builtAs === null ? [] : [[builtAs, spec.from] as const])),
  );
  const specs = waited.map(({ one, dependsOn }) => ({
    ...one.spec,
    from: sharedOrigin(one.spec.from, built),
    dependsOn,
    oneShot: endsByItself(notes, one, awaited.has(one.spec.name)),
    container: { ...one.spec.container, aliases: aliasesOf(one, services) },
  }));
  checkCycles(notes, services, specs);
  checkAliases(notes, services, specs);
  checkSourceMounts(notes, services);
  return specs;
}

function dependenciesOf(
  notes: Notes,
  { dependencies, spec }: ReadService,
  { names, left }: { readonly names: ReadonlySet<string>; readonly left: ReadonlySet<string> },
): readonly ServiceDependency[] {
  return dependencies.flatMap(({ at, dependency, written }) => {
    const other = dependency.service;
    if (names.has(other)) return [dependency];
    const reason = left.has(other) ? "it is left out because it has a profile" : "there is no such service";
    if (!dependency.required) {
      notes.warning(at, `${spec.name} does not wait for ${quoted(written)}: ${reason}`);
      return [];
    }
    const near = left.has(other) ? undefined : nearestWord(written, names);
    const next = left.has(other)
      ? "Name the profile in the variable COMPOSE_PROFILES, or remove it here"
      : near === undefined
        ? "Add it, or remove it here"
        : `Did you mean ${quoted(near)}?`;
    notes.problem(at, `Cannot let ${spec.name} wait for ${quoted(written)}: ${reason}. ${next}`);
    return [];
  });
}

/** A service whose image is built by another service shares that build. */
function sharedOrigin(from: ServiceOrigin, built: ReadonlyMap<string, ServiceOrigin>): ServiceOrigin {
  return from.kind === "image" ? (built.get(from.reference) ?? from) : from;
}

function endsByItself(notes: Notes, { node, restart, spec }: ReadService, awaited: boolean): boolean {
  if (awaited) {
    if (restart === "again") {
      notes.warning(
        node.at,
        `${spec.name} is not restarted when it ends, because another service waits for it to complete`,
      );
    }
    return true;
  }
  if (restart !== "never") return false;
  if (spec.ports.length === 0 && spec.container.healthcheck === null) return true;
  notes.warning(
    node.at,
    `${spec.name} is restarted when it ends, although its restart is "no": it has ports or a health check, so it is meant to keep running`,
  );
  return false;
}

/** Formats a cycle for a message, without the middle of a long one. */
function named(cycle: readonly string[]): string {
  const shown = cycle.length > 10 ? [...cycle.slice(0, 8), "…", cycle.at(-1)!] : cycle;
  return shown.join(" waits for ");
}

function aliasesOf({ spec }: ReadService, services: readonly ReadService[]): readonly string[] {
  const linked = services.flatMap(({ names }) =>
    names.flatMap(({ alias, service }) => (service === spec.name ? [alias] : [])),
  );
  return [...new Set([...spec.container.aliases, ...linked])];
}

function checkAliases(notes: Notes, services: readonly ReadService[], specs: readonly ServiceSpec[]): void {
  const all = specs.map(({ container }) => container.aliases);
  const odd = all.findIndex((aliases) => aliases.some((alias) => !ALIAS.test(alias)));
  if (odd >= 0) {
    const rule = 'names have up to 63 letters, digits, ".", "_" and "-"';
    notes.problem(services[odd]!.node.at, `Cannot use an alias of ${specs[odd]!.name}: ${rule}`);
  }
  const most = all.findIndex((_, index) => new Set(all.slice(0, index + 1).flat()).size > MOST_ALIASES);
  if (most >= 0) {
    const reason = `the services of a project have at most ${MOST_ALIASES} aliases. Remove some`;
    notes.problem(services[most]!.node.at, `Cannot use the aliases of ${specs[most]!.name}: ${reason}`);
  }
}

/** Reports one cycle of services that wait for each other. */
function checkCycles(notes: Notes, services: readonly ReadService[], specs: readonly ServiceSpec[]): void {
  const cycle = dependencyCycle(specs);
  if (!cycle) return;
  const { node } = services.find(({ spec }) => spec.name === cycle[0])!;
  notes.problem(node.at, `Cannot tell what to start first: ${named([...cycle, cycle[0]!])}. Break the cycle`);
}
