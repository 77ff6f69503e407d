import type { AdoptedRecipe, RecipePart } from "../../../domain/services/service_spec.ts";
import { portEntry } from "../../../domain/services/port_notation.ts";
import { type EngineApi, EngineRefusal } from "../engine/engine_api.ts";
import { Turns } from "../../shared/turns.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A recipe as it is applied: without the parts that the service no longer follows. */
export interface OpenRecipe {
  readonly config: Fields;
  readonly hostConfig: Fields;
  /** The settings of its membership in each network besides that of its project. */
  readonly endpoints: Readonly<Record<string, Fields>>;
  /** What creates those networks where there are none. */
  readonly networks: Readonly<Record<string, Fields>>;
  /** Whether it uses the network of the machine or of another container, and so none of its own. */
  readonly sharesNetwork: boolean;
}

const CONFIG_PARTS: Readonly<Partial<Record<RecipePart, readonly string[]>>> = {
  command: ["Cmd"],
  entrypoint: ["Entrypoint"],
  healthcheck: ["Healthcheck"],
  ports: ["ExposedPorts"],
  volumes: ["Volumes"],
};
const HOST_PARTS: Readonly<Partial<Record<RecipePart, readonly string[]>>> = {
  ports: ["PortBindings", "PublishAllPorts"],
  resources: ["Memory", "MemorySwap", "NanoCpus", "CpuQuota", "CpuPeriod"],
  restart: ["RestartPolicy"],
  volumes: ["Binds", "Mounts", "Tmpfs", "VolumesFrom"],
};
/** Networks that every engine has; a project's own takes their place. */
const BUILT_IN = new Set(["bridge", "default", "host", "none"]);

/** Reads the recipe of an adopted container. */
export function openRecipe({ text, without, ports }: AdoptedRecipe): OpenRecipe {
  const { config = {}, hostConfig = {}, endpoints = {}, networks = {} } = JSON.parse(text) as Partial<OpenRecipe>;
  const { NetworkMode: mode, AutoRemove: _, ...host } = less(hostConfig, without, HOST_PARTS);
  const sharesNetwork = typeof mode === "string" && /^(?:host|none|container:|ns:)/.test(mode);
  const others = Object.entries(endpoints).filter(([name]) => !BUILT_IN.has(name));
  const published = ports && { PortBindings: bindingsOf(ports) };
  return {
    config: less(config, without, CONFIG_PARTS),
    hostConfig: sharesNetwork ? { ...host, NetworkMode: mode } : { ...host, ...published },
    endpoints: sharesNetwork ? {} : Object.fromEntries(others),
    networks,
    sharesNetwork,
  };
}

/** Returns the ports of a definition as the engine publishes them; one without a host port is not published. */
function bindingsOf(ports: readonly string[]): Fields {
  const all: Record<string, { readonly HostIp: string; readonly HostPort: string }[]> = {};
  for (const text of ports) {
    const read = portEntry(text);
    if (!("value" in read) || read.value.published === null) continue;
    const { address, ports: inside, protocol, published } = read.value;
    const [first = 0, last = first] = published.split("-").map(Number);
    const isRange = last - first + 1 === inside.length;
    inside.forEach((port, index) => {
      const HostPort = isRange ? `${first + index}` : published;
      (all[`${port}/${protocol}`] ??= []).push({ HostIp: (address ?? "").replaceAll(/^\[|\]$/g, ""), HostPort });
    });
  }
  return all;
}

function less(
  fields: Fields,
  without: readonly RecipePart[],
  parts: Readonly<Partial<Record<RecipePart, readonly string[]>>>,
) {
  const left = new Set(without.flatMap((part) => parts[part] ?? []));
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !left.has(key))) as Fields;
}

/** Returns the paths in the container that a recipe mounts something at. */
export function recipeTargets({ hostConfig }: OpenRecipe): readonly string[] {
  const { Binds: binds, Mounts: mounts, Tmpfs: tmpfs } = hostConfig;
  return [
    ...(Array.isArray(binds) ? binds : []).map((bind: unknown) => String(bind).split(":")[1] ?? ""),
    ...(Array.isArray(mounts) ? mounts : []).map((mount: unknown) => String((mount as { Target?: unknown }).Target)),
    ...Object.keys((tmpfs as object | undefined) ?? {}),
  ];
}

/** Connects a container that was not started yet to the networks of its recipe, and makes those that are missing. */
export async function joinNetworks(engine: EngineApi, containerId: string, recipe: OpenRecipe): Promise<void> {
  for (const [name, endpoint] of Object.entries(recipe.endpoints)) {
    const network = `/networks/${encodeURIComponent(name)}`;
    if (!(await engine.known("GET", network))) await makeNetwork(engine, name, recipe.networks[name] ?? {});
    await engine.request("POST", `${network}/connect`, { json: { Container: containerId, EndpointConfig: endpoint } });
  }
}

/** An engine makes one network at a time: two of the same name or range, for services that start at once, would clash. */
const MAKING = new WeakMap<EngineApi, Turns>();

async function makeNetwork(engine: EngineApi, name: string, settings: Fields): Promise<void> {
  const turns = MAKING.get(engine) ?? new Turns(1);
  MAKING.set(engine, turns);
  const end = await turns.take();
  const isThere = async () => (await engine.known("GET", `/networks/${encodeURIComponent(name)}`)) !== undefined;
  try {
    if (await isThere()) return;
    await engine.request("POST", "/networks/create", { json: { ...settings, Name: name, CheckDuplicate: true } });
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof EngineRefusal) || !(await isThere())) throw error;
  } finally {
    end();
  }
}
