import { Failure, invalid } from "../../../domain/failure.ts";
import type { MeasuredVolume, Volume, Volumes } from "../../../ports/services/volumes.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { LABEL } from "./labels.ts";
import { withRefusalAsFailure } from "../engine/refusals.ts";
import { OwnContainers } from "./own_containers.ts";

/** The engine and the installation of the volumes. */
export interface DockerVolumesOptions {
  readonly engine: EngineApi;
  /** Distinguishes this installation's volumes from those of others on the same engine. */
  readonly installation: string;
  /** Labels that volumes carry in addition to Slipway's own. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A volume as the engine reports it. */
export interface VolumeRecord {
  readonly Name: string;
  readonly Labels: Readonly<Record<string, string>> | null;
  readonly Mountpoint: string;
  readonly CreatedAt: string;
}

/** The engine's response about the disk usage of volumes. */
interface DiskUsage {
  readonly Volumes?: readonly { readonly Name: string; readonly UsageData?: { readonly Size: number } | null }[] | null;
}

const LONGEST = 60;
/** Timeout for measuring sizes, because the caller waits for the response. */
const MEASURE_MS = 20_000;
/** The first API version that reports the disk usage of volumes alone. */
const MEASURES_VOLUMES = "1.42";

/** The volumes of one installation on a Docker Engine, identified by their labels. */
export class DockerVolumes implements Volumes {
  readonly #engine: EngineApi;
  readonly #own: OwnContainers;
  readonly #labels: Readonly<Record<string, string>>;

  constructor({ engine, installation, labels = {} }: DockerVolumesOptions) {
    this.#engine = engine;
    this.#own = new OwnContainers(engine, installation);
    this.#labels = labels;
  }

  async list(scope: string): Promise<readonly Volume[]> {
    return (await this.#ofScope(scope)).map(({ name }) => ({ scope, name }));
  }

  async measure(scopes: readonly string[]): Promise<readonly MeasuredVolume[]> {
    const found = (await Promise.all(scopes.map((scope) => this.#ofScope(scope)))).flat();
    if (found.length === 0) return [];
    const sizes = await this.#sizes();
    return found.map(({ engineName, ...volume }) => ({ ...volume, sizeBytes: sizes.get(engineName) ?? null }));
  }

  async remove(scope: string): Promise<void> {
    await withRefusalAsFailure("remove volumes", async () => {
      const found = await this.labelled({ [LABEL.scope]: scope });
      for (const { Name } of found) await this.discard(Name);
    });
  }

  /** Returns the engine's name of a scope's volume, creating it if there is none. */
  async ensure(scope: string, name: string): Promise<string> {
    const engineName = this.#name(scope, name);
    const kept = await this.make(engineName, { [LABEL.scope]: scope, [LABEL.volume]: name });
    // The engine matches by name only, and the volume may belong to something else.
    this.#mustBelong(kept, { scope, name });
    return engineName;
  }

  /**
   * Returns the engine's name of an existing volume. Throws `volume_missing` if there is none, and `volume_foreign` if
   * another scope or installation keeps it.
   */
  async external(scope: string, name: string): Promise<string> {
    const found = await this.#engine.known<VolumeRecord>("GET", `/volumes/${encodeURIComponent(name)}`);
    if (!found) {
      throw invalid("volume_missing", `Cannot start this: there is no volume "${name}" on the engine; create it first`);
    }
    const isKept = Object.keys(found.Labels ?? {}).some((label) => label === LABEL.installation);
    if (isKept) this.#mustBelong(found, { scope, name });
    return name;
  }

  /** Creates a volume of this installation, unless one of that name exists. */
  async make(name: string, labels: Readonly<Record<string, string>>): Promise<VolumeRecord> {
    const json = { Name: name, Labels: this.#own.labelled({ ...this.#labels, ...labels }) };
    return this.#engine.json<VolumeRecord>("POST", "/volumes/create", { json });
  }

  /** Removes a volume by the engine's name, unless it is in use. */
  async discard(name: string): Promise<void> {
    try {
      await this.#engine.request("DELETE", `/volumes/${encodeURIComponent(name)}`);
    } catch (error) {
      const isGoneOrInUse = error instanceof EngineRefusal && (error.status === 404 || error.status === 409);
      if (!isGoneOrInUse) throw error;
    }
  }

  /** Lists this installation's volumes with these labels. */
  async labelled(labels: Readonly<Record<string, string>> = {}): Promise<readonly VolumeRecord[]> {
    const filters = JSON.stringify({ label: this.#own.filter(labels) });
    const answer = await this.#engine.json<{ readonly Volumes: readonly VolumeRecord[] | null }>("GET", "/volumes", {
      query: { filters },
    });
    return answer.Volumes ?? [];
  }

  async #ofScope(scope: string): Promise<readonly (Volume & { readonly engineName: string })[]> {
    const found = await withRefusalAsFailure("list volumes", () => this.labelled({ [LABEL.scope]: scope }));
    return found.flatMap(({ Labels, Name: engineName }) => {
      const name = Labels?.[LABEL.volume];
      return name === undefined ? [] : [{ scope, name, engineName }];
    });
  }

  /** Returns the sizes of all volumes by the engine's names; empty if the engine cannot report them in time. */
  async #sizes(): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for (const { Name, UsageData } of (await this.#diskUsage())?.Volumes ?? []) {
      // The engine reports -1 for a volume that it cannot measure.
      if (UsageData && UsageData.Size >= 0) sizes.set(Name, UsageData.Size);
    }
    return sizes;
  }

  async #diskUsage(): Promise<DiskUsage | undefined> {
    const timeoutMs = Math.min(MEASURE_MS, this.#engine.answerMs);
    const query = { type: "volume" };
    try {
      return await this.#engine.json<DiskUsage>("GET", "/system/df", { query, timeoutMs, since: MEASURES_VOLUMES });
    } catch (error) {
      if (error instanceof EngineRefusal || error instanceof Failure) return undefined;
      throw error;
    }
  }

  #mustBelong({ Labels }: VolumeRecord, { scope, name }: Volume): void {
    const wanted = Object.entries(this.#own.labelled({ [LABEL.scope]: scope }));
    if (wanted.every(([label, value]) => Labels?.[label] === value)) return;
    throw invalid(
      "volume_foreign",
      `Cannot start this: the volume "${name}" belongs to something else; use a volume of its own`,
    );
  }

  /** Includes a hash of both, because no separator could mark unambiguously where one ends. */
  #name(scope: string, name: string): string {
    const digest = new Bun.CryptoHasher("sha256")
      .update(JSON.stringify([scope, name]))
      .digest("hex")
      .slice(0, 16);
    const shown = name.replaceAll(/[^A-Za-z0-9_.-]+/g, "-").slice(0, LONGEST);
    return `${this.#own.prefix}${scope}-${digest}-${shown}`;
  }
}
