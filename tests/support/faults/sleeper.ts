import type { World } from "../../../ports/world.ts";

/** A world as seen by a process that is suspended for a while, as by SIGSTOP. */
export interface Sleeper {
  readonly world: World;
  /** All calls so far. */
  readonly calls: readonly string[];
  /** The calls since it woke up that change something outside the database. */
  readonly effects: readonly string[];
  isAsleep(): boolean;
  wake(): void;
}

/** Methods that return at once or as a stream; they are neither counted nor delayed. */
const UNNOTICED: ReadonlySet<string> = new Set([
  "clock.now",
  "deploymentEvents.follow",
  "deploymentQueue.onWork",
  "liveReleases.onChange",
  "log.write",
  "manifestParser.parse",
  "releaseFolders.entries",
  "keptSources.list",
  "releaseFolders.list",
  "uploadFiles.list",
  "uploadFiles.stored",
]);

/** Methods that change nothing outside the database. */
const HARMLESS: ReadonlySet<string> = new Set([
  "serviceSets.read",
  "serviceSets.write",
  "containerEngine.answers",
  "deploymentEvents.append",
  "deploymentEvents.last",
  "deploymentEvents.read",
  "deploymentQueue.overdue",
  "deploymentQueue.release",
  "deploymentQueue.renew",
  "deploymentQueue.take",
  "deployments.change",
  "deployments.environment",
  "deployments.find",
  "deployments.get",
  "deployments.ofProject",
  "domains.list",
  "domains.ofProjects",
  "edge.drained",
  "healthProbe.check",
  "hostFolders.locate",
  "hostFolders.resolve",
  "imageBuilder.features",
  "imageBuilder.identify",
  "installation.id",
  "installation.noteContainers",
  "installation.usesContainers",
  "instanceSockets.listening",
  "keptSources.has",
  "liveReleases.activate",
  "liveReleases.among",
  "liveReleases.find",
  "liveReleases.list",
  "projects.find",
  "releaseFolders.digest",
  "releaseFolders.find",
  "releaseFolders.read",
  "releaseImages.archive",
  "releaseImages.find",
  "releaseImages.list",
  "runtime.find",
  "runtime.list",
  "runtime.output",
  "uploadFiles.read",
  "variables.list",
  "variables.reveal",
  "yamlReader.read",
]);

/** Of these, the methods that change something in the database, or depend on the lease. */
const WRITING: ReadonlySet<string> = new Set([
  "serviceSets.write",
  "deploymentEvents.append",
  "deploymentQueue.overdue",
  "deploymentQueue.release",
  "deploymentQueue.renew",
  "deploymentQueue.take",
  "deployments.change",
  "installation.noteContainers",
  "liveReleases.activate",
]);

/**
 * Returns the numbers of the calls of a process after which a pause can matter: each that changes something, and each
 * that is followed by one with an effect outside the database. After any other, the process only reads again.
 */
export function decisiveCalls(calls: readonly string[]): readonly number[] {
  return calls.flatMap((method, index) =>
    hasEffect(method) || WRITING.has(method) || hasEffect(calls[index + 1]) ? [index + 1] : [],
  );
}

function hasEffect(method: string | undefined): boolean {
  return method !== undefined && !HARMLESS.has(method);
}

/**
 * Wraps a world so that its process falls asleep right after this call number took effect. Until it wakes up, none of
 * its pending calls returns and it makes no new ones.
 */
export function sleeper(world: World, call: number): Sleeper {
  const calls: string[] = [];
  const effects: string[] = [];
  const awake = Promise.withResolvers<void>();
  let state: "before" | "asleep" | "after" = "before";
  const ports = Object.entries(world).map(([port, adapter]) => [
    port,
    new Proxy(adapter as object, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        const method = `${port}.${String(name)}`;
        if (typeof member !== "function") return member;
        if (UNNOTICED.has(method)) return member.bind(target);
        return async function (...given: unknown[]): Promise<unknown> {
          // The process handles a response that arrived before it fell asleep in the same tick, so an effect counts as
          // started.
          if (state === "asleep" && HARMLESS.has(method)) await awake.promise;
          calls.push(method);
          if (state === "after" && !HARMLESS.has(method)) effects.push(method);
          const isLast = calls.length === call;
          try {
            return await member.apply(target, given);
          } finally {
            if (isLast) state = "asleep";
            if (state === "asleep") await awake.promise;
          }
        };
      },
    }),
  ]);
  return {
    world: Object.fromEntries(ports) as World,
    calls,
    effects,
    isAsleep: () => state === "asleep",
    wake() {
      state = "after";
      awake.resolve();
    },
  };
}
