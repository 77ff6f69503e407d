import { type BackupDestination, type DestinationSettings } from "../../domain/backup/destination.ts";
import { type DestinationWish, readDraft } from "../../domain/backup/destination_wish.ts";
import { failedProbe, type ProbeOutcome } from "../../domain/backup/probe.ts";
import { readDestinationName } from "../../domain/backup/destination_values.ts";
import { Failure, notFound } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/permission.ts";
import type { BackupDestinations } from "../../ports/backup_destinations.ts";
import { checkSettings, type CheckSettingsPorts } from "./check_settings.ts";
import { findDestination } from "./find_destination.ts";
import { runProbe, type RunProbePorts } from "./run_probe.ts";
import { storageTarget } from "./storage_target.ts";

export interface PreflightPorts extends CheckSettingsPorts, RunProbePorts {
  readonly backupDestinations: BackupDestinations;
}

/** Tries a stored destination with a probe and keeps what came of it; the first host key that worked is the one to expect. */
export function preflightDestination(ports: PreflightPorts) {
  const { backupDestinations, clock, servers } = ports;
  const find = findDestination(ports);
  const targetOf = storageTarget(ports);
  const probe = runProbe(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<ProbeOutcome> {
    const { organizationId } = by;
    const destination = await find(by, id, "backup_destination:write");
    const credentials = await backupDestinations.credentials(organizationId, id);
    if (!credentials) throw notFound("backup destination");
    const { kind, pathPrefix, leftProbes } = destination;
    const settings: DestinationSettings = destination;
    const target = () => targetOf(organizationId, { kind, settings, credentials });
    const report = await probe({ target, pathPrefix, leftProbes }, signal);
    const { outcome, hostKey } = report;
    await backupDestinations.checked(organizationId, destination, {
      at: clock.now(),
      error: outcome.ok ? null : outcome.reason,
      hostKey: kind === "sftp" ? hostKey : null,
      leftProbes: report.leftProbes,
    });
    if (hostKey !== null) await pinServer(destination, hostKey);
    return outcome;
  };

  /** A server has its key in one place, whoever enters it. */
  async function pinServer({ organizationId, serverId }: BackupDestination, hostKey: string): Promise<void> {
    const server = serverId === null ? undefined : await servers.find(organizationId, serverId);
    if (!server || server.hostKey !== null) return;
    const { id, sshHost, sshPort } = server;
    await servers.checked(organizationId, id, { sshHost, sshPort, at: clock.now(), error: null, hostKey });
  }
}

/** Tries a destination that is not stored, and stores nothing. */
export function preflightDraft(ports: PreflightPorts) {
  const check = checkSettings(ports);
  const targetOf = storageTarget(ports);
  const probe = runProbe(ports);
  return async function (by: Principal, wish: DestinationWish, signal?: AbortSignal): Promise<ProbeOutcome> {
    demand(by, "backup_destination:write");
    if (wish.name !== undefined && wish.name !== null) readDestinationName(wish.name);
    const draft = await readDraft(wish);
    try {
      await check(by, draft.kind, draft.settings);
    } catch (error) {
      if (!isLookupFailure(error)) throw error;
      return failedProbe("write", error);
    }
    const target = () => targetOf(by.organizationId, draft);
    const { pathPrefix } = draft.settings;
    return (await probe({ target, pathPrefix, leftProbes: [] }, signal)).outcome;
  };
}

/** A name that cannot be looked up now is what a preflight finds, not what is wrong with its request. */
function isLookupFailure(error: unknown): error is Failure {
  return error instanceof Failure && error.code === "name_lookup_failed";
}
