import type { MemoryWorld } from "../../../adapters/memory/memory_world.ts";
import type { MemoryMachine } from "../../../adapters/memory/remote_hosts.ts";
import type { FoundMount } from "../../../domain/migration/inventory.ts";
import type { World } from "../../../ports/world.ts";
import { intercepted } from "../faults/intercepted.ts";
import { patientYamlReader } from "../faults/patient_yaml_reader.ts";
import { found, foundImage, foundIn, inventoryOf } from "../inputs/found.ts";
import { type Call, memoryApp } from "./app.ts";

/** Text that no response, log or event may contain. */
export const CANARY = "hunter2canary";
export const HOST_KEY = "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU";
export const OTHER_HOST_KEY = "SHA256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0";
export const SHOP_FOLDER = "/srv/shop";

const SERVER = { name: "Berlin", sshHost: "berlin.example.com", sshUser: "deploy", sshPassword: "canary-password" };

const COMPOSE = `
services:
  web:
    build: ./web
    image: shop-web
    ports: ["8080:80"]
    environment: {GREETING: hello, API_TOKEN: $TOKEN}
    depends_on: [db]
  db: {image: "postgres:17", volumes: ["data:/var/lib/postgresql/data"], restart: always}
  worker: {image: shop-web}
volumes: {data: {}}
`;

function volume(source: string, target: string): FoundMount {
  return { type: "volume", source, target, readOnly: false, anonymous: false };
}

/** What the engine of the machine has: a compose project, a container of its own, and one of Slipway's. */
export const INVENTORY = inventoryOf(
  [
    foundIn("shop", "web", {
      image: "shop-web",
      imageFacts: foundImage("shop-web:latest", { digests: [] }),
      environment: { GREETING: "hello", API_TOKEN: CANARY },
      ports: [{ port: 80, protocol: "tcp", published: { address: "", port: 8080 } }],
      labels: { "my.token": CANARY, team: "blue" },
      recipe: `{"config":{"Labels":{"x":"${CANARY}"}}}`,
    }),
    foundIn("shop", "db", {
      image: "postgres:17",
      environment: { POSTGRES_PASSWORD: CANARY },
      mounts: [volume("shop_data", "/var/lib/postgresql/data")],
      restart: "no",
    }),
    found({
      name: "cache",
      image: "redis:8",
      command: ["redis-server", "--requirepass", CANARY],
      state: "exited",
      exitCode: 137,
      mounts: [{ type: "bind", source: "/srv/cache", target: "/data", readOnly: true, anonymous: false }],
      healthcheck: {
        test: ["CMD-SHELL", `redis-cli -a ${CANARY} ping`],
        intervalMs: 5_000,
        timeoutMs: null,
        startPeriodMs: null,
        retries: 3,
      },
    }),
    found({ name: "slipway-prj-1", labels: { "slipway.installation": "here" } }),
  ],
  {
    volumes: [
      { name: "shop_data", driver: "local", labels: {} },
      { name: "unused", driver: "nfs", labels: {} },
    ],
    networks: [{ name: "shop_default", driver: "bridge", labels: {} }],
  },
);

/** A machine that accepts the credentials of the server, with that engine and the files of its compose project. */
export function machine(change: Partial<MemoryMachine> = {}): MemoryMachine {
  return {
    host: SERVER.sshHost,
    hostKey: HOST_KEY,
    logins: [{ user: SERVER.sshUser, password: SERVER.sshPassword }],
    engine: INVENTORY,
    files: new Map([
      [`${SHOP_FOLDER}/compose.yml`, COMPOSE],
      [`${SHOP_FOLDER}/.env`, `TOKEN=${CANARY}\n`],
    ]),
    ...change,
  };
}

/** An application with a server, which is that machine unless told otherwise, and what counts connections to it. */
export async function migrationScene(
  answers: MemoryMachine | undefined = machine(),
  replace: (world: MemoryWorld) => Partial<World> = () => ({}),
) {
  let connections = 0;
  const app = await memoryApp({}, (world) => ({
    serverConnections: intercepted(world.serverConnections, "open", (proceed) => {
      connections += 1;
      return proceed();
    }),
    yamlReader: patientYamlReader(),
    ...replace(world),
  }));
  if (answers) app.world.remoteHosts.add(answers);
  const { call, owner: token } = app;
  const { id } = (await call("POST", "/api/servers", { token, body: SERVER })).body.data;
  const adoption = { serverId: id as string, projectName: "Shop", serviceNames: ["shop/web", "db"] };
  return {
    app,
    id: id as string,
    connections: () => connections,
    server: async () => (await call("GET", `/api/servers/${id}`, { token })).body.data,
    projects: async () => (await call("GET", "/api/projects", { token })).body.data as readonly { name: string }[],
    scan: (by: Call = {}) => call("POST", "/api/migration/scan", { token, body: { serverId: id }, ...by }),
    adopt: (body: object = {}, by: Call = {}) =>
      call("POST", "/api/migration/adopt", { token, body: { ...adoption, ...body }, ...by }),
  };
}
