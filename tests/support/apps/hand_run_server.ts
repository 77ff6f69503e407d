import {
  type ComposeContainer,
  composeNetwork,
  type ComposePlace,
  composeWords,
  writeRemote,
} from "../peers/compose_container.ts";
import type { ManagedServer } from "../peers/managed_server.ts";

const COMPOSE = `
include:
  - db/compose.yaml
services:
  web:
    image: tiny:\${TAG}
    command: ["sh", "-c", "echo \\"$$GREETING\\" >/srv/index.html; exec httpd -f -p 8080 -h /srv"]
    environment:
      GREETING: \${GREETING}
      PRICE: 5$$
      STAGE: test
    ports: ["8080:8080"]
    depends_on: [db]
    restart: "no"
  worker:
    image: tiny:latest
    scale: 2
    environment: {QUEUE: slow}
    depends_on: [db]
  mailer:
    image: tiny:latest
    build: ./mailer
    tmpfs: /scratch
  ghost:
    image: tiny:latest
`;
const PRODUCTION = `
services:
  web:
    environment: {STAGE: production}
    restart: always
`;
const DATABASE = `
services:
  db:
    image: tiny:\${TAG:-latest}
    environment: {DB_PASSWORD: hunter2}
    volumes: [data:/data, ./init:/init:ro]
volumes:
  data: {}
`;
const VAULT = "services: {keeper: {image: tiny, environment: {NEVER: read}}}\n";

/** The command of `shop/web`. */
export const WEB_COMMAND = ["sh", "-c", 'echo "$GREETING" >/srv/index.html; exec httpd -f -p 8080 -h /srv'];
/** A value with everything that a shell, a file with variables or YAML would change. */
export const ODD_VALUE = "a $HOME ${IFS} $$ `id` $(id) \"double\" 'single' \\n \\\\ #no: {comment}\nsecond line\ttab ";

const SHOP: ComposePlace = {
  project: "shop",
  folder: "/srv/shop",
  files: ["/srv/shop/compose.yaml", "/srv/shop/compose.prod.yaml"],
};
const BLOG: ComposePlace = { project: "blog", folder: "/srv/blog", files: ["/srv/blog/compose.yaml"] };
const LOCKED: ComposePlace = { project: "locked", folder: "/srv/locked", files: ["/srv/locked/compose.yaml"] };

/** The containers of compose projects, by their key. */
export const HAND_RUN = {
  web: { ...SHOP, service: "web", dependsOn: ["db"] },
  worker: { ...SHOP, service: "worker", dependsOn: ["db"] },
  worker2: { ...SHOP, service: "worker", number: 2, dependsOn: ["db"] },
  db: { ...SHOP, service: "db" },
  mailer: { ...SHOP, service: "mailer" },
  task: { ...SHOP, service: "web", containerName: "shop-web-run-1f", isOneOff: true },
  blog: { ...BLOG, service: "web", containerName: "blog-front" },
  keeper: { ...LOCKED, service: "keeper" },
} as const satisfies Record<string, ComposeContainer>;

/** A subnet that no engine chooses by itself. */
const SUBNET = "10.213.7.0/24";
export const FIXED_ADDRESS = "10.213.7.9";

/**
 * Makes a server one that somebody runs by hand: compose projects whose containers differ from their files, or whose
 * files are gone or unreadable for others than root, and loose containers with unusual settings.
 */
export async function runByHand(server: ManagedServer): Promise<void> {
  await Promise.all([
    writeRemote(server, "/srv/shop/compose.yaml", COMPOSE),
    writeRemote(server, "/srv/shop/compose.prod.yaml", PRODUCTION),
    writeRemote(server, "/srv/shop/db/compose.yaml", DATABASE),
    writeRemote(server, "/srv/shop/db/init/init.sql", "select 1;\n"),
    writeRemote(server, "/srv/shop/.env", "TAG=latest\nGREETING='costs $5'\n"),
    writeRemote(server, "/srv/locked/compose.yaml", VAULT),
    ...["shop", "blog", "locked"].map((project) => composeNetwork(server, project)),
    server.docker(["network", "create", "--subnet", SUBNET, "fixed"]),
    server.docker(["volume", "create", "shop_data"]),
  ]);
  await server.exec(["chmod", "600", "/srv/locked/compose.yaml"]);
  const started = ["run", "--detach"];
  const { blog, db, keeper, mailer, task, web, worker, worker2 } = HAND_RUN;
  const greeting = ["--env", "GREETING=costs $5", "--env", "PRICE=5$", "--env", "STAGE=production"];
  const data = ["--volume", "shop_data:/data", "--volume", "/srv/shop/db/init:/init:ro"];
  const health = ["--health-cmd", "true", "--health-interval", "90s", "--health-retries", "4"];
  const commands = [
    [...started, ...composeWords(web), ...greeting, "--publish", "8080:8080", "--restart", "always", "tiny:latest"],
    [...started, ...composeWords(worker), "--env", "QUEUE=fast", "--memory", "64m", "tiny:latest"],
    [...started, ...composeWords(worker2), "--env", "QUEUE=fast", "--memory", "64m", "tiny:latest"],
    [...started, ...composeWords(db), "--env", "DB_PASSWORD=hunter2", ...data, "tiny:latest"],
    ["create", ...composeWords(mailer), "--tmpfs", "/scratch", "tiny:latest"],
    ["create", ...composeWords(task), "tiny:latest"],
    ["create", ...composeWords(blog), "--restart", "on-failure:3", "tiny:latest"],
    ["create", ...composeWords(keeper), ...health, "tiny:latest", "serve", "--token", "s3cr3t"],
    ["create", ...looseWords(), "tiny:latest"],
    ["create", "--name", "panel", "--label", "slipway.installation=another", "tiny:latest"],
  ];
  for (const [index, words] of commands.entries())
    await server.docker(index === 0 ? [...words, ...WEB_COMMAND] : words);
  await server.docker(["kill", "shop-worker-2"]);
}

/** A container of no project that uses what compose files rarely have. */
function looseWords(): readonly string[] {
  const options = [
    ["--name", "hand", "--env", `ODD=${ODD_VALUE}`, "--env", "API_KEY=abc", "--env", "EMPTY="],
    ["--volume", "/cache", "--mount", "type=volume,source=notes,target=/notes,readonly"],
    ["--cap-add", "NET_ADMIN", "--device", "/dev/null:/dev/nothing", "--network", "fixed", "--ip", FIXED_ADDRESS],
    ["--publish", "127.0.0.1:5353:53/udp", "--expose", "9000", "--label", 'note=it\'s "quoted"\nand long'],
  ];
  return options.flat();
}
