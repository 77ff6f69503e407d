import { fieldsOf, isAlike, isEmpty, itemsOf, type Loose, textOf, textsOf } from "./loose_json.ts";

type Fields = Readonly<Record<string, Loose>>;

/** The settings of a container, as the engine's request to create one takes them, without image and environment. */
export interface ContainerRecipe {
  readonly config: Fields;
  readonly hostConfig: Fields;
  /** The settings of its membership in each network, by name. */
  readonly endpoints: Readonly<Record<string, Fields>>;
  /** What creates those networks. */
  readonly networks: Readonly<Record<string, Fields>>;
}

/** Settings that belong to the image or the environment of a container, or that only say how it was attached. */
const LEFT_CONFIG = ["Env", "Image", "AttachStdin", "AttachStdout", "AttachStderr", "StdinOnce"];
/** Facts about the former container that the engine does not take, or that it sets itself. */
const LEFT_HOST_CONFIG = ["ContainerIDFile", "ConsoleSize"];
const ENDPOINT_SETTINGS = ["IPAMConfig", "Links", "DriverOpts", "GwPriority"];
const NETWORK_SETTINGS = ["Driver", "Internal", "Attachable", "EnableIPv6", "Options", "Labels", "IPAM"];
const ID = /^[0-9a-f]{64}$/;

/**
 * Derives from an inspected container what creates the same one again. What equals the image's own configuration is
 * left out, so that another image brings its own. Volumes that the engine named itself are mounted by their name.
 */
export function containerRecipe(
  inspected: Fields,
  imageConfig: Fields,
  networks: readonly Fields[] = [],
): ContainerRecipe {
  const endpoints = endpointsOf(inspected);
  const config = fieldsOf(inspected["Config"]);
  const hostConfig = fieldsOf(inspected["HostConfig"]);
  return {
    config: {
      ...configOf(config, { imageConfig, id: textOf(inspected["Id"]), hasOwnName: hasOwnName(hostConfig) }),
      ...programOf(config, imageConfig),
    },
    hostConfig: {
      ...kept(hostConfig, LEFT_HOST_CONFIG),
      // The engine may use one by default.
      ...(hostConfig["Init"] === false && { Init: false }),
      ...ownedVolumes(inspected, hostConfig),
    },
    endpoints,
    networks: networksOf(endpoints, networks),
  };
}

/** Returns whether a container has a host name of its own: engines refuse one for those that share another's. */
function hasOwnName(hostConfig: Fields): boolean {
  return !textOf(hostConfig["NetworkMode"]).startsWith("container:") && textOf(hostConfig["UTSMode"]) !== "host";
}

/** Returns the program where it is not that of the image: with an entrypoint, the engine ignores the image's command. */
function programOf(config: Fields, imageConfig: Fields): Fields {
  const [entrypoint, command] = [textsOf(config["Entrypoint"]), textsOf(config["Cmd"])];
  if (isAlike(entrypoint, textsOf(imageConfig["Entrypoint"]))) return {};
  // One empty word removes the entrypoint of the image.
  return { Entrypoint: entrypoint.length === 0 ? [""] : entrypoint, ...(command.length > 0 && { Cmd: command }) };
}

interface ConfigContext {
  readonly imageConfig: Fields;
  readonly id: string;
  readonly hasOwnName: boolean;
}

function configOf(config: Fields, { imageConfig, id, hasOwnName: isNamed }: ConfigContext): Fields {
  const own = Object.entries(kept(config, LEFT_CONFIG)).filter(([key, value]) => !isAlike(value, imageConfig[key]));
  const settings = Object.fromEntries(own);
  // The engine names a container after its id by default.
  const { Hostname: hostname, Volumes: volumes, ExposedPorts: ports, Labels: labels, ...rest } = settings;
  const named = textOf(hostname);
  return {
    ...rest,
    // It is killed at once, not after ten seconds.
    ...(config["StopTimeout"] === 0 && { StopTimeout: 0 }),
    ...(named !== "" && isNamed && !id.startsWith(named) && { Hostname: named }),
    ...less("Volumes", volumes, imageConfig),
    ...less("ExposedPorts", ports, imageConfig),
    ...less("Labels", labels, imageConfig),
  };
}

/** Returns the entries of a map that the image does not have. */
function less(key: string, value: Loose, imageConfig: Fields): Fields {
  const image = fieldsOf(imageConfig[key]);
  const own = Object.entries(fieldsOf(value)).filter(
    ([name, inner]) => !(name in image) || !isAlike(image[name], inner),
  );
  return own.length === 0 ? {} : { [key]: Object.fromEntries(own) };
}

function kept(fields: Fields, left: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => !left.includes(key) && !isEmpty(value)));
}

/** Returns the mounts with the volumes that the engine named itself, which only the list of actual mounts names. */
function ownedVolumes(inspected: Fields, hostConfig: Fields): Fields {
  const binds = textsOf(hostConfig["Binds"]);
  const mounts = itemsOf(hostConfig["Mounts"]).map(fieldsOf);
  const named = new Set([
    ...binds.map((bind) => bind.split(":")[1] ?? ""),
    ...mounts.filter((mount) => textOf(mount["Source"]) !== "").map((mount) => textOf(mount["Target"])),
  ]);
  const owned = itemsOf(inspected["Mounts"])
    .map(fieldsOf)
    .filter((mount) => textOf(mount["Type"]) === "volume" && !named.has(textOf(mount["Destination"])));
  if (owned.length === 0) return {};
  const taken = new Set(owned.map((mount) => textOf(mount["Destination"])));
  return {
    Mounts: [
      ...mounts.filter((mount) => !taken.has(textOf(mount["Target"]))),
      ...owned.map((mount) => ({
        Type: "volume",
        Source: textOf(mount["Name"]),
        Target: textOf(mount["Destination"]),
        ...(mount["RW"] === false && { ReadOnly: true }),
      })),
    ],
  };
}

function endpointsOf(inspected: Fields): ContainerRecipe["endpoints"] {
  const networks = fieldsOf(fieldsOf(inspected["NetworkSettings"])["Networks"]);
  const id = textOf(inspected["Id"]);
  const container = textOf(inspected["Name"]).replace(/^\//, "");
  const entries = Object.entries(networks).map(([name, value]) => {
    const endpoint = fieldsOf(value);
    const settings = ENDPOINT_SETTINGS.filter((key) => !isEmpty(endpoint[key])).map((key) => [key, endpoint[key]]);
    // Neighbours also know it by the name of its container, which the next one does not have.
    const aliases = [...new Set([...aliasesOf(endpoint, id), container])].filter((alias) => alias !== "");
    return [name, { ...Object.fromEntries(settings), ...(aliases.length > 0 && { Aliases: aliases }) }] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the networks with their ranges of addresses only where a container has a fixed one: the others get a free
 * range wherever they are made.
 */
export function recipeNetworks(networks: readonly Fields[], inspected: readonly Fields[]): readonly Fields[] {
  const fixed = new Set(
    inspected.flatMap((each) => {
      const endpoints = Object.entries(endpointsOf(each));
      return endpoints.filter(([, endpoint]) => !isEmpty(endpoint["IPAMConfig"])).map(([name]) => name);
    }),
  );
  return networks.map((network) => {
    const { IPAM: ranges, ...rest } = network;
    return ranges !== undefined && fixed.has(textOf(network["Name"])) ? network : rest;
  });
}

/** Returns the settings of the networks that a container is in. */
function networksOf(endpoints: ContainerRecipe["endpoints"], networks: readonly Fields[]): ContainerRecipe["networks"] {
  const used = networks.filter((network) => textOf(network["Name"]) in endpoints);
  const entries = used.map((network) => {
    const name = textOf(network["Name"]);
    const keys = NETWORK_SETTINGS.filter((key) => !isEmpty(network[key]));
    return [name, Object.fromEntries(keys.map((key) => [key, network[key]]))];
  });
  return Object.fromEntries(entries);
}

/** Returns the additional names of a container in a network, without the one that the engine derives from its id. */
export function aliasesOf(endpoint: Fields, id: string): readonly string[] {
  return [...new Set(textsOf(endpoint["Aliases"]))].filter((alias) => alias !== id.slice(0, 12));
}

/** Returns whether a volume's name is one that the engine made up. */
export function isEngineName(name: string): boolean {
  return ID.test(name);
}
