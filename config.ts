import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { LOG_LEVELS, type LogLevel } from "./ports/system/log.ts";
import { BadSetting, type Environment, Settings } from "./settings.ts";

export { BadSetting };

const LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";
const PUBLIC_HOST = "https://github.com";

export type Config = ReturnType<typeof readConfig>;

/** Reads every setting from the environment. Throws `BadSetting` for the first invalid one. */
export function readConfig(environment: Environment, cwd: string) {
  const read = new Settings(environment);
  const host = read.text("HOST", "127.0.0.1");
  const port = read.number("PORT", 4400, { min: 0, max: 65_535 });
  return {
    host,
    port,
    publicUrl: read.url("PUBLIC_URL"),
    dataFolder: resolve(cwd, read.text("SLIPWAY_DATA", ".slipway")),
    databaseUrl: read.secretUrl("DATABASE_URL", ["postgres:", "postgresql:"]),
    adminToken: read.adminToken("SLIPWAY_ADMIN_TOKEN"),
    secretKey: read.key("SLIPWAY_SECRET_KEY"),
    previousSecretKeys: read.keys("SLIPWAY_SECRET_KEY_PREVIOUS"),
    mode: read.word("SLIPWAY_MODE", ["self-hosted", "cloud"]),
    runtime: read.word("SLIPWAY_RUNTIME", ["auto", "docker", "process"]),
    dockerHost: read.engine("DOCKER_HOST", "unix:///var/run/docker.sock"),
    baseImages: read.baseImages("BASE_IMAGES"),
    baseDomain: read.hostname("BASE_DOMAIN", "localhost"),
    backupAllowLocal: read.word("BACKUP_ALLOW_LOCAL_DESTINATION", ["false", "true"]) === "true",
    backupLocalRoot: read.folder("BACKUP_LOCAL_ROOT"),
    backupCaFile: read.folder("BACKUP_CA_FILE"),
    localSourceRoots: read.folders("LOCAL_SOURCE_ROOTS"),
    trustedProxies: read.networks("TRUSTED_PROXIES"),
    uploadMaxBytes: read.number("UPLOAD_MAX_BYTES", 2 * 1_024 ** 3, { min: 1, max: 2 ** 50 }),
    logLevel: read.word("LOG_LEVEL", ["info", ...LOG_LEVELS]) as LogLevel,
    logFormat: read.optionalWord("LOG_FORMAT", ["json", "text"]),
    ...certificateSettings(read),
    ...gitHostSettings(read),
    ...edgeSettings(read),
  };
}

/** Settings of the certificate authority. Without a directory, no certificates are ordered. */
function certificateSettings(read: Settings) {
  return {
    acmeDirectoryUrl: read.directory("ACME_DIRECTORY_URL", LETS_ENCRYPT),
    acmeEmail: read.email("ACME_EMAIL"),
    acmeCaFile: read.folder("ACME_CA_FILE"),
  };
}

/** Settings of the git host: its addresses, the app, the OAuth app, the token of the command-line client. */
function gitHostSettings(read: Settings) {
  const githostUrl = read.url("GITHOST_WEB_URL") ?? PUBLIC_HOST;
  const enterprise = githostUrl === PUBLIC_HOST ? "https://api.github.com" : `${githostUrl}/api/v3`;
  const clientId = read.optionalText("GITHOST_CLIENT_ID");
  const clientSecret = read.secret("GITHOST_CLIENT_SECRET");
  if (clientSecret && clientId === undefined) throw new BadSetting("GITHOST_CLIENT_SECRET needs GITHOST_CLIENT_ID");
  return {
    githostUrl,
    githostApiUrl: read.url("GITHOST_API_URL") ?? enterprise,
    githostApp: read.gitHostApp(),
    githostOAuth: clientId === undefined ? undefined : { clientId, clientSecret },
    githostWebhookSecret: read.secret("GITHOST_WEBHOOK_SECRET"),
    githostToken: read.secret("GITHOST_TOKEN"),
  };
}

/** Settings of the edge, the engine and the cloud. */
function edgeSettings(read: Settings) {
  const edge = read.word("EDGE", ["inside", "separate", "caddy"]);
  // A port that the system chooses would be another one after each change of Caddy's configuration.
  const min = edge === "caddy" ? 1 : 0;
  return {
    edge,
    caddyAdmin: read.caddyAdmin("CADDY_ADMIN", "http://127.0.0.1:2019"),
    edgeWorkers: read.number("EDGE_WORKERS", 1, { min: 1, max: 64 }),
    edgePort: read.number("EDGE_PORT", 4480, { min, max: 65_535 }),
    edgeTlsPort: read.number("EDGE_TLS_PORT", 4443, { min, max: 65_535 }),
    edgeHttpsRedirect: read.word("EDGE_HTTPS_REDIRECT", ["on", "off"]) === "on",
    edgeHstsSeconds: read.number("EDGE_HSTS_SECONDS", 0, { min: 0, max: 10 * 31_536_000 }),
    buildConcurrency: read.number("BUILD_CONCURRENCY", availableParallelism(), { min: 1, max: 1_000 }),
    buildTimeoutSeconds: read.number("BUILD_TIMEOUT_SECONDS", 1_800, { min: 1, max: 86_400 }),
    probationSeconds: read.decimal("PROBATION_SECONDS", 1.5, { min: 0, max: 3_600 }),
    healthTimeoutSeconds: read.decimal("HEALTH_TIMEOUT_SECONDS", 60, { min: 1, max: 3_600 }),
    stopTimeoutSeconds: read.decimal("STOP_TIMEOUT_SECONDS", 10, { min: 0, max: 3_600 }),
    rollbackWindow: read.number("ROLLBACK_WINDOW", 5, { min: 0, max: 100 }),
    ...cloudSettings(read),
  };
}

/** The link of the whole installation to the hosted cloud. */
function cloudSettings(read: Settings) {
  const cloudApiUrl = read.url("CLOUD_API_URL");
  const cloudToken = read.secret("CLOUD_TOKEN");
  if (cloudApiUrl && !cloudToken) throw new BadSetting("CLOUD_API_URL needs CLOUD_TOKEN");
  if (cloudToken && !cloudApiUrl) throw new BadSetting("CLOUD_TOKEN needs CLOUD_API_URL");
  const isCloud = read.word("SLIPWAY_MODE", ["self-hosted", "cloud"]) === "cloud";
  if (isCloud && cloudApiUrl)
    throw new BadSetting("CLOUD_API_URL must not be set with SLIPWAY_MODE=cloud: a cloud is not linked to another");
  return { cloudApiUrl, cloudToken };
}
