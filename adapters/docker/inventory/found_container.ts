import {
  CONTAINER_STATES,
  type ContainerState,
  type FoundAttachment,
  type FoundContainer,
  type FoundHealth,
  type FoundImage,
  type FoundMount,
  type FoundPort,
} from "../../../domain/migration/inventory.ts";
import { Secret } from "../../../domain/secret.ts";
import { aliasesOf, containerRecipe, isEngineName } from "./container_recipe.ts";
import {
  fieldsOf,
  isEmpty,
  itemsOf,
  type Loose,
  numberOf,
  positiveOf,
  textFieldsOf,
  textOf,
  textsOf,
} from "./loose_json.ts";

type Fields = Readonly<Record<string, Loose>>;

const NANOSECONDS = 1e6;

/** Reads an inspected container, with its inspected image if the engine has it, and the networks of the engine. */
export function foundContainer(
  inspected: Fields,
  image: Fields | undefined,
  networks: readonly Fields[] = [],
): FoundContainer {
  const config = fieldsOf(inspected["Config"]);
  const hostConfig = fieldsOf(inspected["HostConfig"]);
  const state = fieldsOf(inspected["State"]);
  const id = textOf(inspected["Id"]);
  const recipe = containerRecipe(inspected, fieldsOf(image?.["Config"]), networks);
  return {
    id,
    name: textOf(inspected["Name"]).replace(/^\//, ""),
    state: stateOf(state),
    exitCode: typeof state["ExitCode"] === "number" ? state["ExitCode"] : null,
    startedAt: textOf(state["StartedAt"]) || null,
    restarts: numberOf(inspected["RestartCount"]),
    image: textOf(config["Image"]),
    imageId: textOf(inspected["Image"]),
    imageFacts: image === undefined ? null : foundImage(image),
    entrypoint: textsOf(config["Entrypoint"]),
    command: textsOf(config["Cmd"]),
    environment: givenEnvironment(config),
    labels: textFieldsOf(config["Labels"]),
    ports: portsOf(config, hostConfig),
    // Engines list them in another order each time.
    mounts: [...mountsOf(inspected["Mounts"]), ...memoryOf(hostConfig)].sort(byTarget),
    networks: networksOf(inspected, id),
    networkMode: textOf(hostConfig["NetworkMode"]),
    restart: restartOf(fieldsOf(hostConfig["RestartPolicy"])),
    healthcheck: healthOf(fieldsOf(config["Healthcheck"])),
    limits: { memoryBytes: positiveOf(hostConfig["Memory"]), cpus: processorsOf(hostConfig) },
    removedAtEnd: hostConfig["AutoRemove"] === true,
    privileges: privilegesOf(hostConfig),
    recipe: new Secret(JSON.stringify(recipe)),
  };
}

/** Reads an inspected image. */
export function foundImage(inspected: Fields): FoundImage {
  const config = fieldsOf(inspected["Config"]);
  return {
    id: textOf(inspected["Id"]),
    tags: textsOf(inspected["RepoTags"]),
    digests: textsOf(inspected["RepoDigests"]),
    entrypoint: textsOf(config["Entrypoint"]),
    command: textsOf(config["Cmd"]),
    environment: environmentOf(config["Env"]),
    labels: textFieldsOf(config["Labels"]),
    hasHealthcheck: textsOf(fieldsOf(config["Healthcheck"])["Test"]).length > 0,
    volumes: Object.keys(fieldsOf(config["Volumes"])),
    ports: Object.keys(fieldsOf(config["ExposedPorts"])),
  };
}

function stateOf(state: Fields): ContainerState {
  const status = textOf(state["Status"]).toLowerCase();
  // Podman's word for a container that was created or has ended.
  if (status === "configured" || status === "initialized") return "created";
  if (status === "stopped") return "exited";
  return CONTAINER_STATES.find((known) => known === status) ?? "unknown";
}

function environmentOf(value: Loose): ReadonlyMap<string, Secret> {
  const entries = textsOf(value).flatMap((entry) => {
    const end = entry.indexOf("=");
    return end > 0 ? [[entry.slice(0, end), new Secret(entry.slice(end + 1))] as const] : [];
  });
  return new Map(entries);
}

/** Returns the environment without what Podman adds to every container, and reports as if it had been given. */
function givenEnvironment(config: Fields): ReadonlyMap<string, Secret> {
  const all = environmentOf(config["Env"]);
  const added = {
    container: /^(?:podman|oci)$/.exec(all.get("container")?.reveal() ?? "")?.[0],
    HOSTNAME: config["Hostname"],
  };
  if (added.container === undefined) return all;
  return new Map([...all].filter(([key, value]) => added[key as keyof typeof added] !== value.reveal()));
}

function portsOf(config: Fields, hostConfig: Fields): readonly FoundPort[] {
  const bindings = fieldsOf(hostConfig["PortBindings"]);
  const published = Object.entries(bindings).flatMap(([key, value]) =>
    itemsOf(value).map((item) => {
      const { HostIp: address, HostPort: port } = fieldsOf(item);
      return { ...portOf(key), published: { address: textOf(address), port: Number(textOf(port)) || null } };
    }),
  );
  const declared = Object.keys(fieldsOf(config["ExposedPorts"]))
    .filter((key) => itemsOf(bindings[key]).length === 0)
    .map((key) => ({ ...portOf(key), published: null }));
  return [...published, ...declared].filter(({ port }) => port > 0);
}

function portOf(key: string): Pick<FoundPort, "port" | "protocol"> {
  const [port = "", protocol = "tcp"] = key.split("/");
  return { port: Number(port) || 0, protocol };
}

function mountsOf(value: Loose): readonly FoundMount[] {
  return itemsOf(value).map((item) => {
    const mount = fieldsOf(item);
    const type = textOf(mount["Type"]);
    const name = textOf(mount["Name"]);
    return {
      type: type === "volume" || type === "bind" || type === "tmpfs" ? type : "other",
      source: type === "volume" ? name : textOf(mount["Source"]),
      target: textOf(mount["Destination"]),
      readOnly: mount["RW"] === false,
      anonymous: type === "volume" && isEngineName(name),
    };
  });
}

/** Mounts in memory by the option `--tmpfs`, which the list of mounts does not have. */
function memoryOf(hostConfig: Fields): readonly FoundMount[] {
  return Object.keys(fieldsOf(hostConfig["Tmpfs"])).map((target) => ({
    type: "tmpfs",
    source: "",
    target,
    readOnly: false,
    anonymous: false,
  }));
}

function byTarget(a: FoundMount, b: FoundMount): number {
  return a.target < b.target ? -1 : a.target > b.target ? 1 : 0;
}

function networksOf(inspected: Fields, id: string): readonly FoundAttachment[] {
  const networks = fieldsOf(fieldsOf(inspected["NetworkSettings"])["Networks"]);
  return Object.entries(networks).map(([name, value]) => {
    const endpoint = fieldsOf(value);
    const requested = fieldsOf(endpoint["IPAMConfig"]);
    return {
      name,
      aliases: aliasesOf(endpoint, id),
      addresses: [textOf(requested["IPv4Address"]), textOf(requested["IPv6Address"])].filter((each) => each !== ""),
    };
  });
}

function restartOf(policy: Fields): string {
  const name = textOf(policy["Name"]) || "no";
  const most = numberOf(policy["MaximumRetryCount"]);
  return name === "on-failure" && most > 0 ? `${name}:${most}` : name;
}

function healthOf(health: Fields): FoundHealth | null {
  const test = textsOf(health["Test"]);
  if (test.length === 0) return null;
  return {
    test,
    intervalMs: millisecondsOf(health["Interval"]),
    timeoutMs: millisecondsOf(health["Timeout"]),
    startPeriodMs: millisecondsOf(health["StartPeriod"]),
    retries: positiveOf(health["Retries"]),
  };
}

function millisecondsOf(value: Loose): number | null {
  const nanoseconds = positiveOf(value);
  return nanoseconds === null ? null : nanoseconds / NANOSECONDS;
}

function processorsOf(hostConfig: Fields): number | null {
  const nano = positiveOf(hostConfig["NanoCpus"]);
  if (nano !== null) return nano / 1e9;
  const quota = positiveOf(hostConfig["CpuQuota"]);
  return quota === null ? null : quota / (positiveOf(hostConfig["CpuPeriod"]) ?? 100_000);
}

const PRIVILEGES: Readonly<Record<string, string>> = {
  Privileged: "privileged",
  CapAdd: "capabilities",
  Devices: "devices",
  DeviceRequests: "GPUs",
  DeviceCgroupRules: "device rules",
  Sysctls: "sysctls",
  GroupAdd: "groups",
  VolumesFrom: "volumes of other containers",
  Links: "links to other containers",
};

/** Modes that share something of the server, with the value of the one that does not. */
const SHARED_MODES = ["PidMode", "IpcMode", "UTSMode", "UsernsMode"];

function privilegesOf(hostConfig: Fields): readonly string[] {
  const given = Object.entries(PRIVILEGES).filter(([key]) => !isEmpty(hostConfig[key]));
  const shared = SHARED_MODES.filter((key) => textOf(hostConfig[key]) === "host");
  const borrowed = SHARED_MODES.filter((key) => textOf(hostConfig[key]).startsWith("container:"));
  const unconfined = textsOf(hostConfig["SecurityOpt"]).filter((option) => /unconfined|disable/.test(option));
  return [
    ...given.map(([, word]) => word),
    ...shared.map((key) => `the server's ${key.replace("Mode", "").toLowerCase()} namespace`),
    ...borrowed.map((key) => `the ${key.replace("Mode", "").toLowerCase()} namespace of another container`),
    ...(unconfined.length > 0 ? ["seccomp or AppArmor unconfined"] : []),
  ];
}
