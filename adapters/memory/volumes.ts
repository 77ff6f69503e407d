import { invalid } from "../../domain/failure.ts";
import type { RunnableImage, RunRequest } from "../../ports/services/runtime.ts";
import type { MeasuredVolume, Volume, Volumes } from "../../ports/services/volumes.ts";

/** Simulated volumes that only have a name, recorded as a `MemoryRuntime` mounts them. */
export class MemoryVolumes implements Volumes {
  /** Pre-existing volumes, by their engine names. May be changed at any time. */
  readonly external = new Set<string>();
  /** Sizes of volumes in bytes, by their engine names. May be changed at any time. */
  readonly sizes = new Map<string, number>();
  readonly #kept = new Map<string, Volume>();
  /** The instances that use a volume, by its engine name. */
  readonly #users = new Map<string, Set<string>>();

  async list(scope: string): Promise<readonly Volume[]> {
    return [...this.#kept.values()].filter((volume) => volume.scope === scope);
  }

  async measure(scopes: readonly string[]): Promise<readonly MeasuredVolume[]> {
    const found = [...this.#kept.values()].filter(({ scope }) => scopes.includes(scope));
    return found.map((volume) => ({ ...volume, sizeBytes: this.sizes.get(this.engineName(volume)) ?? 0 }));
  }

  async remove(scope: string): Promise<void> {
    for (const [engineName, volume] of this.#kept) {
      if (volume.scope === scope && !this.#users.get(engineName)?.size) this.#kept.delete(engineName);
    }
  }

  /** The engine name, by which another scope would have to mount this volume. */
  engineName({ scope, name }: Volume): string {
    return JSON.stringify([scope, name]);
  }

  /**
   * Records the volumes that an instance uses. Throws `volume_foreign` or `volume_missing` for those it may not use.
   */
  use({ instanceId, scope, runs }: RunRequest<RunnableImage>): void {
    const names = (runs.mounts ?? []).flatMap((mount) => {
      if (mount.kind === "external") return [this.#external(scope, mount.name)];
      return mount.kind === "volume" ? [this.engineName({ scope, name: mount.name })] : [];
    });
    for (const mount of runs.mounts ?? []) {
      if (mount.kind === "volume") this.#keep({ scope, name: mount.name });
    }
    for (const name of names) this.#users.set(name, (this.#users.get(name) ?? new Set()).add(instanceId));
  }

  /** Records that an instance is gone. */
  leave(instanceId: string): void {
    for (const users of this.#users.values()) users.delete(instanceId);
  }

  #keep(volume: Volume): void {
    this.#kept.set(this.engineName(volume), volume);
  }

  #external(scope: string, name: string): string {
    const kept = this.#kept.get(name);
    if (kept && kept.scope !== scope) {
      throw invalid(
        "volume_foreign",
        `Cannot start this: the volume "${name}" belongs to something else; use a volume of its own`,
      );
    }
    if (!kept && !this.external.has(name)) {
      throw invalid("volume_missing", `Cannot start this: there is no volume "${name}" on the engine; create it first`);
    }
    return name;
  }
}
