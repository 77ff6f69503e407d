import type { ApplicationPorts } from "../application/application_ports.ts";
import { backupUseCases } from "../application/backups/use_cases.ts";
import { certificateUseCases } from "../application/certificates/use_cases.ts";
import { cloudUseCases } from "../application/cloud/use_cases.ts";
import { deploymentUseCases } from "../application/deployments/use_cases.ts";
import { domainUseCases } from "../application/domains/use_cases.ts";
import { gitHostUseCases } from "../application/githost/use_cases.ts";
import { identityUseCases } from "../application/identity/use_cases.ts";
import { migrationUseCases } from "../application/migration/use_cases.ts";
import { projectUseCases } from "../application/projects/use_cases.ts";
import { serverUseCases } from "../application/servers/use_cases.ts";
import { serviceUseCases } from "../application/services/use_cases.ts";
import { auditTrail } from "../application/system/audit_trail.ts";
import { systemUseCases } from "../application/system/use_cases.ts";
import type { Config } from "../config.ts";
import { Failure } from "../domain/failure.ts";
import { loggedError } from "../domain/logged_error.ts";
import { parseAddress } from "../domain/network_address.ts";
import { createApp } from "../http/app.ts";
import { Metrics } from "../http/metrics.ts";
import type { Log } from "../ports/system/log.ts";
import type { World } from "../ports/world.ts";
import { VERSION } from "./version.ts";

/** The settings that the application itself needs. */
export type AppSettings = Pick<
  Config,
  | "acmeDirectoryUrl"
  | "mode"
  | "runtime"
  | "baseDomain"
  | "host"
  | "edgeTlsPort"
  | "dataFolder"
  | "backupAllowLocal"
  | "backupLocalRoot"
  | "localSourceRoots"
  | "trustedProxies"
  | "uploadMaxBytes"
  | "githostUrl"
  | "githostApp"
  | "githostOAuth"
  | "githostWebhookSecret"
  | "cloudApiUrl"
  | "cloudToken"
> & { readonly publicUrl: string };

/** Builds every use case from one set of ports. */
export function useCases(world: World, settings: AppSettings) {
  const { mode, baseDomain, dataFolder, localSourceRoots: roots, uploadMaxBytes: maxBytes } = settings;
  const ports: ApplicationPorts = {
    ...world,
    mode,
    runtimePreset: settings.runtime,
    baseDomain,
    publicHost: new URL(settings.publicUrl).hostname,
    localSources: { mode, roots, dataFolder },
    localBackups: { mode, allowed: settings.backupAllowLocal, root: settings.backupLocalRoot, dataFolder },
    uploadLimits: { maxBytes, maxUnpackedBytes: 4 * maxBytes, maxEntries: 200_000 },
    auditTrail: auditTrail(world),
    acmeDirectoryUrl: settings.acmeDirectoryUrl,
    githostUrl: settings.githostUrl,
    edgeTls: edgeTls(settings),
    ...gitHostPorts(settings),
  };
  return {
    ...identityUseCases(ports),
    ...projectUseCases(ports),
    ...deploymentUseCases(ports),
    ...serviceUseCases(ports),
    ...domainUseCases(ports),
    ...certificateUseCases(ports),
    ...backupUseCases(ports),
    ...serverUseCases(ports),
    ...migrationUseCases(ports),
    ...cloudUseCases(ports),
    ...gitHostUseCases(ports),
    ...systemUseCases(ports),
  };
}

/** Returns where the edge is reached over TLS from this machine. A port that the system chooses is not known here. */
function edgeTls({ host, edgeTlsPort: port }: AppSettings) {
  const isOneAddress = parseAddress(host)?.some((byte) => byte !== 0);
  return port === 0 ? undefined : { address: isOneAddress ? host : "127.0.0.1", port };
}

function gitHostPorts(settings: AppSettings) {
  const { cloudApiUrl, cloudToken, githostApp, githostOAuth, githostUrl, githostWebhookSecret, mode } = settings;
  return {
    gitHost: {
      mode,
      webUrl: githostUrl,
      publicUrl: settings.publicUrl,
      app: githostApp && { slug: githostApp.slug },
      oauth: githostOAuth && { clientId: githostOAuth.clientId, hasSecret: githostOAuth.clientSecret !== undefined },
      webhookSecret: githostWebhookSecret,
    },
    cloudPreset: cloudApiUrl && cloudToken ? { url: cloudApiUrl, token: cloudToken } : undefined,
  };
}

/** Wires ports, use cases and HTTP together: one function from request to response. */
export function buildApplication(world: World, settings: AppSettings) {
  const cases = useCases(world, settings);
  const { log } = world;
  const { handle, routes } = createApp(cases, {
    identify: cases.identifyCaller,
    answerOnce: cases.answerOnce,
    audit: cases.auditTrail,
    forward: cases.forwardDeployment,
    metrics: new Metrics(),
    publicUrl: settings.publicUrl,
    publicOrigin: new URL(settings.publicUrl).origin,
    trustedProxies: settings.trustedProxies,
    report: (error, requestId) => report(log, error, requestId),
    logRequest: (line, isRoutine) => log.write(isRoutine ? "debug" : "info", "request", line),
    facts: {
      version: VERSION,
      mode: settings.mode,
      runtime: () => defaultRuntime(world, settings),
      databaseAnswers: () => world.serviceHealth.databaseAnswers(),
    },
  });
  return { handle, routes, useCases: cases };
}

/** Returns the runtime of projects that do not choose one. */
export async function defaultRuntime(
  { containerEngine }: Pick<World, "containerEngine">,
  { runtime }: Pick<AppSettings, "runtime">,
): Promise<"docker" | "process"> {
  if (runtime !== "auto") return runtime;
  return (await containerEngine.answers()) ? "docker" : "process";
}

/** Logs the error behind a response, which does not contain it, for the operator. */
function report(log: Log, error: unknown, requestId: string): void {
  const fields = { requestId, ...loggedError(error) };
  if (error instanceof Failure) log.write("warn", "A request failed because a component is unavailable", fields);
  else log.write("error", "A request failed because of a bug", fields);
}
