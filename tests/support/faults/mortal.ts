import type { World } from "../../../ports/world.ts";

/** A world as seen by one process that is killed at some point. */
export interface Mortal {
  readonly world: World;
  /** The calls with lasting effects that it has made. */
  readonly calls: readonly string[];
  isDead(): boolean;
}

/** The methods whose effects outlive the process. */
const LASTING: ReadonlySet<string> = new Set([
  "certificateAuthority.issue",
  "certificateAuthority.order",
  "certificateOrders.complete",
  "certificateOrders.retry",
  "certificateOrders.save",
  "certificateOrders.take",
  "deployKeys.pinHostKey",
  "deployments.change",
  "deploymentEvents.append",
  "deploymentQueue.take",
  "deploymentQueue.release",
  "edge.switch",
  "builder.build",
  "keptSources.keep",
  "keptSources.remove",
  "keptSources.share",
  "liveReleases.activate",
  "liveReleases.announce",
  "releaseFolders.make",
  "releaseFolders.finish",
  "releaseFolders.remove",
  "serviceSets.write",
  "imageBuilder.build",
  "imageRegistry.fetch",
  "releaseImages.keep",
  "releaseImages.remove",
  "runtime.introduce",
  "runtime.start",
  "runtime.remove",
  "sources.fetch",
  "uploadFiles.discard",
]);

/**
 * Wraps a world so that its process is killed at this call number, right before or right after the call took effect.
 * From then on none of its calls ever returns.
 */
export function mortal(world: World, at: { readonly call: number; readonly when: "before" | "after" }): Mortal {
  const calls: string[] = [];
  let dead = false;
  const ports = Object.entries(world).map(([port, adapter]) => [
    port,
    new Proxy(adapter as object, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        const method = `${port}.${String(name)}`;
        return function (...given: unknown[]): unknown {
          if (method === "clock.now" || method === "log.write") return member.apply(target, given);
          if (dead) return never();
          if (!LASTING.has(method)) return member.apply(target, given);
          calls.push(method);
          if (calls.length !== at.call) return member.apply(target, given);
          dead = true;
          if (at.when === "after") void Promise.resolve(member.apply(target, given)).catch(() => {});
          return never();
        };
      },
    }),
  ]);
  return { world: Object.fromEntries(ports) as World, calls, isDead: () => dead };
}

function never(): Promise<never> {
  return new Promise(() => {});
}
