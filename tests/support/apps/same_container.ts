import type { Inspected } from "./taken_over.ts";

/** Says nothing about the container: who attached to it when it was created, and its size on their screen. */
const OF_THE_CLIENT = ["AttachStdin", "AttachStdout", "AttachStderr", "StdinOnce", "ContainerIDFile", "ConsoleSize"];

/**
 * Everything that makes a container what it is, in a form that is equal for two containers made alike:
 * - Without ids, names, times, states, paths of the engine and assigned addresses, which only say which of the two it is.
 * - Without labels and networks of Slipway. It joins the network of its project in place of the default one.
 * - Found in its networks by the name that it was created with, whether that is its own name or another one there.
 * - Its image by id, because a name may mean several.
 * - Its host name only if somebody chose it: by default the engine takes its id.
 * - Its mounts as they are. How they were requested has several notations.
 * - Values that mean "not set" (`null`, `[]`, `{}`, `""`) all alike: clients differ in which of them they send.
 * - Variables, capabilities, mounts and aliases in the same order, because their order does not matter.
 */
export function sameContainer(inspected: Inspected): Inspected {
  const { Id, Config, HostConfig, Image, Mounts } = inspected;
  const { Hostname: hostname, Env: env, Labels: labels, Image: _, ...config } = Config;
  const { NetworkMode: mode, Binds: __, Mounts: requested, AutoRemove: ___, ...host } = HostConfig;
  return set({
    image: Image,
    config: {
      ...without(config, OF_THE_CLIENT),
      Hostname: Id.startsWith(hostname) ? "" : hostname,
      Env: [...(env ?? [])].sort(),
      Labels: withoutOurs(labels ?? {}, "slipway."),
    },
    host: {
      ...without(host, OF_THE_CLIENT),
      NetworkMode: /^(?:host|none|container:)/.test(mode) ? mode : "",
      CapAdd: [...(host.CapAdd ?? [])].sort(),
      CapDrop: [...(host.CapDrop ?? [])].sort(),
    },
    memory: (requested ?? []).filter(({ Type }: Inspected) => Type === "tmpfs"),
    mounts: Mounts.map(({ Type, Name, Source, Destination, RW, Propagation }: Inspected) => ({
      Type,
      Name,
      Destination,
      RW,
      Propagation,
      Source: Type === "bind" ? Source : "",
    })).sort((a: Inspected, b: Inspected) => (a.Destination < b.Destination ? -1 : 1)),
    networks: networksOf(inspected),
  });
}

/** Its membership in networks besides those that every engine has. */
function networksOf({ Id, Name, NetworkSettings }: Inspected): Inspected {
  const ownName = Name.replace(/^\//, "");
  const others = Object.entries(withoutOurs(NetworkSettings.Networks, "slipway-")).filter(
    ([name]) => !["bridge", "host", "none"].includes(name),
  );
  return Object.fromEntries(
    others.map(([network, { Aliases, IPAMConfig, Links, DriverOpts }]) => {
      const aliases = new Set<string>(Aliases ?? []);
      // The engine adds one that it derives from the id.
      aliases.delete(Id.slice(0, 12));
      if (!ownName.startsWith("slipway-")) aliases.add(ownName);
      return [network, { Aliases: [...aliases].sort(), IPAMConfig, Links, DriverOpts, IsMember: true }];
    }),
  );
}

function withoutOurs(
  entries: Readonly<Record<string, Inspected>>,
  prefix: string,
): Readonly<Record<string, Inspected>> {
  return Object.fromEntries(Object.entries(entries).filter(([key]) => !key.startsWith(prefix)));
}

function without(fields: Inspected, keys: readonly string[]): Inspected {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)));
}

/** The value without what is not set in it, at any depth. */
function set(value: Inspected): Inspected {
  if (Array.isArray(value)) return value.map(set);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, set(inner)] as const);
  return Object.fromEntries(entries.filter(([, inner]) => !isUnset(inner)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isUnset(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
