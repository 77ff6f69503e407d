import { abandonedBefore } from "../../domain/backups/abandoned_write.ts";
import { type DestinationInput, readDraft } from "../../domain/backups/destination_input.ts";
import { failedProbe, type ProbeOutcome } from "../../domain/backups/probe.ts";
import { readDestinationName } from "../../domain/backups/destination_values.ts";
import { Failure } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { BackupDestinations } from "../../ports/backups/backup_destinations.ts";
import type { StorageOptions } from "../../ports/backups/object_storage.ts";
import { checkSettings, type CheckSettingsPorts } from "./check_settings.ts";
import { openDestination, type OpenDestinationPorts } from "./open_destination.ts";
import { runProbe, type RunProbePorts } from "./run_probe.ts";
import { storedDestination } from "./stored_destination.ts";

export interface PreflightPorts extends CheckSettingsPorts, RunProbePorts, OpenDestinationPorts {
  readonly backupDestinations: BackupDestinations;
}

/** Probes a stored destination and stores the result. The first host key that works is pinned for later connections. */
export function preflightDestination(ports: PreflightPorts) {
  const { backupDestinations, clock, servers } = ports;
  const find = storedDestination(ports);
  const open = openDestination(ports);
  const probe = runProbe(ports);
  return async function (by: Principal, id: string, signal?: AbortSignal): Promise<ProbeOutcome> {
    const { organizationId } = by;
    const { destination, draft } = await find(by, id, "backup_destination:write");
    const { kind, serverId, leftProbes } = destination;
    const server = serverId === null ? undefined : await servers.find(organizationId, serverId);
    const place = {
      open: (options: StorageOptions) => open(organizationId, draft, options),
      leftProbes,
      abandonedBefore: abandonedBefore(destination, clock.now()),
    };
    const report = await probe(place, signal);
    const { outcome, hostKey } = report;
    const at = clock.now();
    await backupDestinations.checked(organizationId, destination, {
      at,
      error: outcome.ok ? null : outcome.reason,
      hostKey: kind === "sftp" ? hostKey : null,
      leftProbes: report.leftProbes,
    });
    // A server's host key is pinned on the server itself, no matter which feature connected first.
    if (hostKey !== null && server?.hostKey === null) {
      const { sshHost, sshPort } = server;
      await servers.checked(organizationId, server.id, { sshHost, sshPort, at, error: null, hostKey });
    }
    return outcome;
  };
}

/** Probes a destination that is not stored, and stores nothing. */
export function preflightDraft(ports: PreflightPorts) {
  const check = checkSettings(ports);
  const open = openDestination(ports);
  const probe = runProbe(ports);
  return async function (by: Principal, input: DestinationInput, signal?: AbortSignal): Promise<ProbeOutcome> {
    demand(by, "backup_destination:write");
    if (input.name !== undefined && input.name !== null) readDestinationName(input.name);
    const draft = await readDraft(input);
    try {
      await check(by, draft.kind, draft.settings);
    } catch (error) {
      if (!isLookupFailure(error)) throw error;
      return failedProbe("write", error);
    }
    const openDraft = (options: StorageOptions) => open(by.organizationId, draft, options);
    return (await probe({ open: openDraft, leftProbes: [], abandonedBefore: null }, signal)).outcome;
  };
}

/** A failed DNS lookup is a result of the preflight, not an invalid request. */
function isLookupFailure(error: unknown): error is Failure {
  return error instanceof Failure && error.code === "name_lookup_failed";
}
