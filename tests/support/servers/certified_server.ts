import { CryptoVault } from "../../../adapters/crypto/vault.ts";
import { migrate } from "../../../adapters/postgres/migrate.ts";
import { postgresWorld } from "../../../adapters/postgres/postgres_world.ts";
import type { Certificate } from "../../../domain/certificates/certificate.ts";
import { newToken } from "../../../domain/identity/token.ts";
import type { TestProject } from "../apps/deploying.ts";
import { query } from "../database/query.ts";
import { testDatabase } from "../database/test_database.ts";
import { eventually } from "../eventually.ts";
import { Pebble, type PebbleOptions } from "../peers/pebble.ts";
import { type Settings, SlipwayProcess, temporaryPlace } from "./slipway_process.ts";

/** The name that tests have certificates issued for. */
export const CERTIFIED_HOSTNAME = "www.example.org";

export interface CertifiedServerOptions extends Omit<PebbleOptions, "httpPort"> {
  /** Further settings of the server, such as `EDGE`. */
  readonly settings?: Settings;
}

/** A server, and an authority that looks for proofs at its edge. */
export interface CertifiedServer extends AsyncDisposable {
  /** The database. */
  readonly url: string;
  /** What another server of the same installation is started with. */
  readonly settings: Settings;
  readonly slipway: SlipwayProcess;
  readonly pebble: Pebble;
  /** Starts the server again after it was stopped or killed. */
  restart(): Promise<void>;
  /** Returns the certificate that is stored. */
  certificate(): Promise<Certificate | undefined>;
  /** Waits for a certificate other than the former one. */
  next(former?: Certificate): Promise<Certificate>;
}

/** Starts a server that orders certificates. */
export async function certifiedServer(options: CertifiedServerOptions = {}): Promise<CertifiedServer> {
  const { settings: own = {}, ...authority } = options;
  await using opened = new AsyncDisposableStack();
  const { url } = opened.use(await testDatabase({ prepare: migrate }));
  const { data } = opened.use(await temporaryPlace());
  const place = { DATABASE_URL: url, SLIPWAY_DATA: data, SLIPWAY_ADMIN_TOKEN: newToken(), ...own };
  const slipway = opened.use(await SlipwayProcess.prepare(place));
  const pebble = opened.use(await Pebble.start({ httpPort: slipway.edgePort, ...authority }));
  const acme = { ACME_DIRECTORY_URL: pebble.directoryUrl, ACME_CA_FILE: pebble.caFile, ACME_EMAIL: "ada@example.org" };
  await slipway.start(acme);
  const lifetime = opened.move();
  const certificate = () => stored(url, data);
  return {
    url,
    settings: { ...place, ...acme },
    slipway,
    pebble,
    restart: () => slipway.start(acme),
    certificate,
    async next(former) {
      const isNew = (now?: Certificate) => now !== undefined && now.fingerprint256 !== former?.fingerprint256;
      return (await eventually(certificate, isNew))!;
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** The certificate that is stored. */
async function stored(url: string, folder: string): Promise<Certificate | undefined> {
  await using world = await postgresWorld({ url, vault: await CryptoVault.load({ folder }) });
  return world.certificates.find(CERTIFIED_HOSTNAME);
}

/**
 * Claims a domain, for a new project unless one is given, and returns its id. The TXT record would be looked up in the
 * Internet, so its verification is entered by hand.
 */
export async function verifiedDomain(
  { slipway, url }: Pick<CertifiedServer, "slipway" | "url">,
  { hostname = CERTIFIED_HOSTNAME, project }: { readonly hostname?: string; readonly project?: TestProject } = {},
): Promise<string> {
  const { call, owner: token } = slipway;
  const made = project ? undefined : await call("POST", "/api/projects", { token, body: { name: hostname } });
  const projectId = project?.id ?? (made!.body.data.id as string);
  const claimed = await call("POST", "/api/domains", { token, body: { projectId, hostname } });
  const id = claimed.body.data.id as string;
  await query(url, `update domains set verified_at = now() where id = '${id}'`);
  return id;
}
