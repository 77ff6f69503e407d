import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../eventually.ts";
import { rawConnection } from "../servers/raw_http.ts";
import { testPort } from "../servers/test_port.ts";

/** The configurations that docs/behind-a-proxy.md quotes. */
const RECIPES = join(import.meta.dir, "../../../docs/proxies");

/** What a proxy passes requests on to, and the certificate that it presents itself. */
export interface WebProxyOptions {
  readonly apiPort: number;
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  readonly certificate: { readonly chain: string; readonly key: string };
}

/** A web server that runs one of the documented configurations on ports of its own. */
export interface WebProxy extends AsyncDisposable {
  readonly httpPort: number;
  readonly httpsPort: number;
}

/** What the documented configurations have in a test: ports for visitors, ports inside of the proxy, and files. */
interface Place extends WebProxyOptions {
  readonly folder: string;
  readonly http: number;
  readonly https: number;
  /** Where the proxy itself accepts TLS, and where it passes TLS on to the edge. */
  readonly own: number;
  readonly passed: number;
}

/** Texts of a configuration, and what they are replaced by. Every one has to occur. */
type Changes = Readonly<Record<string, string>>;

/** The recipes in docs/behind-a-proxy.md. Each writes its configuration and returns the command that runs it. */
const PROXIES = {
  nginx: (place: Place) => nginx(place, configured(place, "nginx.conf", nginxSite(place))),
  "nginx that passes TLS through": (place: Place) =>
    nginx(
      place,
      configured(place, "nginx-pass-through-http.conf", nginxPassThrough(place)),
      configured(place, "nginx-pass-through-stream.conf", nginxStream(place)),
    ),
  HAProxy: (place: Place) => haproxy(place, configured(place, "haproxy.cfg", haproxySite(place))),
  "HAProxy that passes TLS through": (place: Place) =>
    haproxy(
      place,
      configured(place, "haproxy-pass-through.cfg", {
        ...haproxySite(place),
        "127.0.0.1:8443": `127.0.0.1:${place.own}`,
      }),
    ),
  Caddy: async (place: Place) => {
    const { http, https, folder } = place;
    const settings = `http_port ${http}\n\thttps_port ${https}\n\tdefault_bind 127.0.0.1\n\tadmin off`;
    const site = await configured(place, "Caddyfile", pemFiles(folder));
    const file = join(folder, "Caddyfile");
    await writeFile(file, `{\n\t${settings}\n\tstorage file_system ${folder}\n}\n\n${site}`);
    return ["caddy", "run", "--adapter", "caddyfile", "--config", file];
  },
};

export type WebProxyName = keyof typeof PROXIES;
export const WEB_PROXY_NAMES = Object.keys(PROXIES) as WebProxyName[];

/** Starts the proxy of this name with its documented configuration. Only addresses, ports and files are others. */
export async function startWebProxy(name: WebProxyName, options: WebProxyOptions): Promise<WebProxy> {
  await using opened = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const port = () => opened.use(testPort()).port;
  const place: Place = { ...options, folder, http: port(), https: port(), own: port(), passed: port() };
  const { chain, key } = options.certificate;
  await Promise.all([
    writeFile(join(folder, "chain.pem"), chain),
    writeFile(join(folder, "key.pem"), key),
    writeFile(join(folder, "both.pem"), `${chain}${key}`),
  ]);
  const command = await PROXIES[name](place);
  const log = join(folder, "log");
  const program = Bun.spawn(["setpriv", "--pdeathsig=TERM", "--", ...command], {
    env: { ...process.env, HOME: folder },
    stdio: ["ignore", Bun.file(log), Bun.file(log)],
  });
  opened.defer(async () => {
    // nginx ends its workers when it is asked to end, but not when it is killed. Caddy may wait for its clients.
    program.kill(command[0] === "nginx" ? "SIGTERM" : "SIGKILL");
    await program.exited;
  });
  const failed = await eventually(
    async () => {
      if (program.exitCode !== null) return `${name} does not start: ${await Bun.file(log).text()}`;
      for (const each of [place.http, place.https]) (await rawConnection(each))[Symbol.dispose]();
      return undefined;
    },
    () => true,
  );
  if (failed) throw new Error(failed);
  const lifetime = opened.move();
  return { httpPort: place.http, httpsPort: place.https, [Symbol.asyncDispose]: () => lifetime.disposeAsync() };
}

/** Returns a documented configuration with what differs in a test. */
async function configured(place: WebProxyOptions, file: string, changes: Changes): Promise<string> {
  const { apiPort, edgePort, edgeTlsPort } = place;
  const text = await Bun.file(join(RECIPES, file)).text();
  for (const from of Object.keys(changes)) if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
  const all: Changes = {
    ...changes,
    "127.0.0.1:4400": `127.0.0.1:${apiPort}`,
    "127.0.0.1:4480": `127.0.0.1:${edgePort}`,
    ":4443": `:${edgeTlsPort}`,
  };
  // At once: a number that was put in may look like another one that is to be replaced.
  return text.replaceAll(new RegExp(Object.keys(all).map(RegExp.escape).join("|"), "g"), (from) => all[from]!);
}

function pemFiles(folder: string): Changes {
  return {
    "/etc/ssl/slipway/fullchain.pem": join(folder, "chain.pem"),
    "/etc/ssl/slipway/privkey.pem": join(folder, "key.pem"),
  };
}

function nginxSite({ http, https, folder }: Place): Changes {
  return {
    "listen 80;": `listen 127.0.0.1:${http};`,
    "listen [::]:80;": "",
    "listen 443 ssl": `listen 127.0.0.1:${https} ssl`,
    "listen [::]:443 ssl http2;": "",
    ...pemFiles(folder),
  };
}

function nginxPassThrough({ http, own, folder }: Place): Changes {
  return {
    "listen 80 default_server;": `listen 127.0.0.1:${http} default_server;`,
    "listen [::]:80 default_server;": "",
    "127.0.0.1:8443": `127.0.0.1:${own}`,
    ...pemFiles(folder),
  };
}

function nginxStream({ https, own, passed }: Place): Changes {
  return {
    "listen 443;": `listen 127.0.0.1:${https};`,
    "listen [::]:443;": "",
    "127.0.0.1:8443": `127.0.0.1:${own}`,
    "127.0.0.1:8444": `127.0.0.1:${passed}`,
  };
}

/** Runs nginx as Debian configures it, but with the recipe instead of its sites. */
async function nginx({ folder }: Place, site: Promise<string>, stream?: Promise<string>): Promise<string[]> {
  const [siteFile, streamFile, main] = ["site.conf", "stream.conf", "nginx.conf"].map((name) => join(folder, name));
  await writeFile(siteFile!, await site);
  await writeFile(streamFile!, (await stream) ?? "");
  const debian = (await Bun.file("/etc/nginx/nginx.conf").text())
    .replace("/run/nginx.pid", join(folder, "pid"))
    .replaceAll("/var/log/nginx/", `${folder}/`)
    .replace("include /etc/nginx/conf.d/*.conf;", `include ${siteFile};`)
    .replace("include /etc/nginx/sites-enabled/*;", "");
  await writeFile(main!, `${debian}\ninclude ${streamFile};\n`);
  return ["nginx", "-c", main!, "-e", join(folder, "error.log"), "-g", "daemon off;"];
}

function haproxySite({ http, https, folder }: Place): Changes {
  return {
    ":::80 v4v6": `127.0.0.1:${http}`,
    ":::443 v4v6": `127.0.0.1:${https}`,
    // A program that changes its user outlives the test process when that is killed.
    "user haproxy": "user root",
    "group haproxy": "group root",
    "/etc/haproxy/slipway.pem": join(folder, "both.pem"),
  };
}

async function haproxy({ folder }: Place, configuration: Promise<string>): Promise<string[]> {
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, await configuration);
  return ["haproxy", "-db", "-f", file];
}
