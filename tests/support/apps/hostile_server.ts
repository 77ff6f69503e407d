import { DockerEngineInventories } from "../../../adapters/docker/inventory/engine_inventories.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";
import { hostileArguments } from "../inputs/hostile_arguments.ts";
import { composeLabels, writeRemote } from "../peers/compose_container.ts";
import type { ManagedServer } from "../peers/managed_server.ts";
import { ownConnections } from "./managed_stage.ts";

/** What no file of the server may appear as in an answer: it is in files that compose files have no business with. */
export const CANARY = "Canary7f3a";
/** The file that every injected command makes. */
export const MARKER = `/tmp/slipway-was-here-${crypto.randomUUID()}`;

const COMMANDS: readonly string[] = [
  `$(touch ${MARKER})`,
  `\`touch ${MARKER}\``,
  `'; touch ${MARKER}; '`,
  `"; touch ${MARKER}; "`,
  `\n touch ${MARKER}\n`,
  `| touch ${MARKER} #`,
  "<script>alert(1)</script>",
  "\u001b]0;owned\u0007\u001b[2J",
  "../../etc",
  "__proto__",
  "constructor",
];

/** Hostile texts: values of the variables `V0`, `V1`, … of the container `values`. */
export const TEXTS: readonly string[] = [...hostileArguments.filter((text) => text !== ""), ...COMMANDS];

const BOMB = `
a: &a [x, x, x, x, x, x, x, x, x, x]
${["b", "c", "d", "e", "f", "g", "h", "i"].map((name, index) => `${name}: &${name} [${`*${"abcdefgh"[index]}, `.repeat(10)}]`).join("\n")}
services: {web: {image: tiny, command: *i}}
`;
const service = (text: string) => `services:\n  web:\n    image: tiny\n${text}`;

/** Compose files that lead a reader astray, by the name of their project. */
const FILES: Readonly<Record<string, string>> = {
  itself: `include: [compose.yaml]\n${service("")}`,
  bomb: BOMB,
  deep: `${"[".repeat(60_000)}`,
  large: `# ${"x".repeat(600_000)}\n${service("")}`,
  variables: service("    env_file: [/etc/shadow, /root/token, /proc/self/environ]\n"),
  included: `include: [/etc/shadow]\n${service("")}`,
  extended: service("    extends: {file: /root/token, service: web}\n"),
  escape: service(`    command: ["\\e[31mred", "$$(touch ${MARKER})"]\n    environment: {"<script>": "\\e[0m"}\n`),
  "proto.json": '{"services": {"__proto__": {"image": "tiny"}, "web": {"image": "tiny", "__proto__": {"x": 1}}}}',
};

/** Paths that labels of containers call compose files, by the name of their project. */
const PATHS: Readonly<Record<string, string>> = {
  shadow: "/etc/shadow",
  token: "/root/token",
  upwards: "../../../../../etc/shadow",
  pipe: "/srv/pipe",
  folder: "/srv",
  zeros: "/dev/zero",
  kernel: "/proc/kmsg",
  terminal: "/srv/\u001b[31m\n$(touch /tmp/x).yaml",
  list: Array.from({ length: 2_000 }, (_, index) => `/srv/${index}.yaml`).join(","),
  nothing: ",,,",
};

/** A container to create. */
interface Hostile {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * Fills a server with containers and files that attack whoever reads them. Resolves to the names of all containers.
 */
export async function fillWithHostility(server: ManagedServer): Promise<readonly string[]> {
  await Promise.all([
    writeRemote(server, "/root/token", `${CANARY}\n`),
    ...Object.entries(FILES).map(([name, text]) => writeRemote(server, `/srv/${name}/compose.yaml`, text)),
    server.exec(["sh", "-c", `echo 'canary:$6$${CANARY}:19000:0:99999:7:::' >>/etc/shadow; mkfifo /srv/pipe`]),
  ]);
  await using own = await ownConnections();
  await using connection = await own.connections.open(server.target("root"));
  const engine = new EngineApi(connection.engineAddress);
  const all = [...values(), ...projects(), ...names()];
  for (const { labels, more, name } of all) {
    await engine.json("POST", "/containers/create", {
      query: { name },
      json: { Image: "tiny", Labels: labels, ...more },
    });
  }
  const { containers } = await new DockerEngineInventories().read(connection.engineAddress);
  if (containers.length !== all.length) throw new Error(`There are ${containers.length} of ${all.length} containers`);
  return all.map(({ name }) => name);
}

/** Hostile values and keys of labels, variables, commands and health checks. */
function values(): readonly Hostile[] {
  const environment = TEXTS.flatMap((text, index) => [`V${index}=${text}`, `${text.replaceAll("=", "")}=1`]);
  return [
    {
      name: "values",
      labels: Object.fromEntries(TEXTS.flatMap((text, index) => [[`l${index}`, text] as const, [text, "1"] as const])),
      more: {
        Env: environment,
        Cmd: TEXTS,
        Entrypoint: TEXTS,
        Healthcheck: { Test: ["CMD-SHELL", ...TEXTS] },
        HostConfig: { Binds: [`/srv/$(touch ${MARKER}):/x`, "/srv/<script>:/y:ro"] },
      },
    },
    { name: "large", labels: { big: "x".repeat(1_048_576) } },
    { name: "many", labels: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`label.${index}`, "x"])) },
  ];
}

/** Containers whose labels lead to hostile files. */
function projects(): readonly Hostile[] {
  const files = Object.keys(FILES).map((project) => [project, `/srv/${project}/compose.yaml`] as const);
  return [...files, ...Object.entries(PATHS)].map(([project, path]) => ({
    name: `of-${project}`,
    labels: composeLabels({ project, folder: `/srv/${project}`, files: [path], service: "web" }),
  }));
}

/** Containers of projects and services with hostile names. */
function names(): readonly Hostile[] {
  const place = { folder: "/srv/names", files: ["/srv/names/compose.yaml"] };
  return COMMANDS.flatMap((text, index) => [
    { name: `service-${index}`, labels: composeLabels({ ...place, project: "names", service: text }) },
    { name: `project-${index}`, labels: composeLabels({ ...place, project: text, service: "web" }) },
  ]);
}
