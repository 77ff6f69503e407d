import type { KnownServer } from "./taken_over.ts";

/** A shop that somebody runs by hand with compose: `web`, `api` and `db`. */
export interface HandMadeShop {
  /** The name of its compose project, which its containers, networks and volumes begin with. */
  readonly name: string;
  /** The port of the server at which `web` answers with its color. */
  readonly port: number;
  /** The port of the server at which `api` answers with a file of its volume. */
  readonly apiPort: number;
  /** The names of its containers. */
  readonly containers: { readonly web: string; readonly api: string; readonly db: string };
  /** The keys of its services. */
  readonly keys: readonly string[];
}

/** Ends at once when it is told to: the first process of a container gets no default handlers of signals. */
const STAY = `trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done`;
let last = 20_000;

/** A program that answers requests on a port with the files of a folder. */
export function answering(folder: string, port = 8080): string {
  return `httpd -p ${port} -h ${folder}; ${STAY}`;
}

/** Starts a shop with networks, aliases, ports, volumes with data in them, limits and restart policies. */
export async function handMadeShop(server: KnownServer): Promise<HandMadeShop> {
  last += 10;
  const [port, apiPort] = [last, last + 1];
  const name = `shop${last}`;
  const containers = { web: `${name}-web-1`, api: `${name}-api-1`, db: `${name}-db-1` };
  for (const network of ["front", "back"]) await server.docker("network", "create", `${name}_${network}`);
  await start(server, containers.db, {
    options: {
      ...labels(name, "db"),
      network: `${name}_back`,
      "network-alias": "database",
      restart: "on-failure:3",
      "pids-limit": "50",
      volume: [`${name}_db:/var/lib/db`, "/scratch"],
      env: "PASSWORD=sec$ret value",
    },
    command: `echo rows >>/var/lib/db/table; echo kept >>/scratch/note; ${STAY}`,
  });
  await start(server, containers.api, {
    options: {
      ...labels(name, "api"),
      network: `${name}_back`,
      "network-alias": "backend",
      restart: "unless-stopped",
      publish: `127.0.0.1:${apiPort}:8080`,
      volume: `${name}_files:/data`,
      "cap-add": "NET_ADMIN",
      env: "MODE=calm",
    },
    command: `test -e /data/index.html || echo files >/data/index.html; ${answering("/data")}`,
  });
  await start(server, containers.web, {
    options: {
      ...labels(name, "web"),
      network: `${name}_front`,
      "network-alias": "www",
      restart: "always",
      memory: "64m",
      publish: `${port}:8080`,
      "cap-drop": "NET_RAW",
      env: "COLOR=blue",
    },
    command: `echo "$COLOR" >/srv/index.html; echo "painted $COLOR"; ${answering("/srv")}`,
  });
  await server.docker("network", "connect", "--alias", "painter", `${name}_back`, containers.web);
  return { name, port, apiPort, containers, keys: ["web", "api", "db"].map((each) => `${name}/${each}`) };
}

/** A program with the options of `docker run`. */
interface Program {
  readonly options: Readonly<Record<string, string | readonly string[]>>;
  readonly command: string;
}

function labels(project: string, service: string): Program["options"] {
  const own = { project, service, "container-number": "1", oneoff: "False" };
  return { label: Object.entries(own).map(([key, value]) => `com.docker.compose.${key}=${value}`) };
}

async function start(server: KnownServer, name: string, { options, command }: Program): Promise<void> {
  const words = Object.entries(options).flatMap(([option, given]) =>
    [given].flat().map((value) => `--${option}=${value}`),
  );
  await server.docker("run", "--detach", `--name=${name}`, ...words, "tiny:latest", "sh", "-c", command);
}
