import { EngineApi, EngineRefusal } from "../../../adapters/docker/engine/engine_api.ts";
import { eventually } from "../eventually.ts";

/** Selects what to remove from an engine. */
export interface EngineContent {
  /** A label, with or without a value. Everything is removed if omitted. */
  readonly label?: string;
  /** The label of the images to remove as well. No images are removed if omitted. */
  readonly imageLabel?: string;
}

interface Listed {
  readonly Id: string;
}

/**
 * Removes containers, networks, volumes and images from an engine. Removes containers one at a time: an old engine
 * deadlocks when two leave a network at once.
 */
export async function emptyEngine(host: string, { label, imageLabel }: EngineContent): Promise<void> {
  const engine = new EngineApi(host);
  const list = <T>(path: string, filters: Readonly<Record<string, readonly string[]>>) =>
    engine.json<T>("GET", path, { query: { all: true, filters: JSON.stringify(filters) } });
  const remove = async (path: string, query: Readonly<Record<string, boolean>>) => {
    try {
      await engine.request("DELETE", path, { query });
    } catch (error) {
      if (!(error instanceof EngineRefusal) || error.status !== 404) throw error;
    }
  };
  const labelled = label === undefined ? {} : { label: [label] };
  for (const { Id } of await list<readonly Listed[]>("/containers/json", labelled)) {
    await remove(`/containers/${Id}`, { force: true, v: true });
  }
  for (const { Id } of await list<readonly Listed[]>("/networks", { ...labelled, type: ["custom"] })) {
    // The engine may not have noticed yet that the last container has left.
    await eventually(
      () => remove(`/networks/${Id}`, {}),
      () => true,
    );
  }
  const { Volumes } = await list<{ readonly Volumes: readonly { readonly Name: string }[] | null }>(
    "/volumes",
    labelled,
  );
  for (const { Name } of Volumes ?? []) await remove(`/volumes/${Name}`, { force: true });
  if (imageLabel === undefined) return;
  for (const { Id } of await list<readonly Listed[]>("/images/json", { label: [imageLabel] })) {
    await remove(`/images/${Id}`, { force: true });
  }
}
