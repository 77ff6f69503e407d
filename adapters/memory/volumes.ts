import { invalid } from "../../domain/failure.ts";
import type { RunnableImage, RunRequest } from "../../ports/services/runtime.ts";
import type { MeasuredVolume, Volume, Volumes } from "../../ports/services/volumes.ts";

/** Volumes that are nothing but a name, noted as a `MemoryRuntime` mounts them. */
export class MemoryVolumes implements Volumes {
  /** Volumes that were there before, by the engine's names; may be changed at any time. */
  readonly external = new Set<string>();
  /** What volumes hold, by the engine's names; may be changed at any time. */
  readonly sizes = new Map<string, number>();
  readonly #kept = new Map<string, Volume>();
  /** Which instances use a volume, by its engine's name. */
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

  /** The name that another scope would have to use to mount this one. */
  engineName({ scope, name }: Volume): string {
    return JSON.stringify([scope, name]);
  }

  /** Notes what an instance uses, or refuses what it may not. */
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

  /** Notes that an instance is gone. */
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
      throw invalid("volume_missing", `Cannot start this: there is no volume "${name}" on the engine; make it first`);
    }
    return name;
  }
}
