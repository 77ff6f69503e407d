import { type BackupDestination, flagsOf } from "../../domain/backups/destination.ts";
import { readDestinationName } from "../../domain/backups/destination_values.ts";
import { type DestinationInput, readDraft } from "../../domain/backups/destination_input.ts";
import { newId } from "../../domain/id.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import type { BackupDestinations } from "../../ports/backups/backup_destinations.ts";
import type { Clock } from "../../ports/system/clock.ts";
import { checkSettings, type CheckSettingsPorts } from "./check_settings.ts";

export interface CreateDestinationPorts extends CheckSettingsPorts {
  readonly backupDestinations: BackupDestinations;
  readonly clock: Clock;
}

/** Stores a backup destination, without a preflight. */
export function createDestination(ports: CreateDestinationPorts) {
  const check = checkSettings(ports);
  return async function (by: Principal, input: DestinationInput): Promise<BackupDestination> {
    demand(by, "backup_destination:write");
    const name = readDestinationName(input.name ?? "");
    const { kind, settings, credentials, credentialTargets } = await readDraft(input);
    await check(by, kind, settings);
    const at = ports.clock.now();
    const destination: BackupDestination = {
      id: newId("bkd", at),
      organizationId: by.organizationId,
      name,
      kind,
      ...settings,
      ...flagsOf(credentials),
      isDefault: input.isDefault ?? false,
      lastVerifiedAt: null,
      lastVerifyError: null,
      createdAt: at,
      updatedAt: at,
      credentialTargets,
      revision: 1,
      leftProbes: [],
    };
    await ports.backupDestinations.create(destination, credentials);
    return destination;
  };
}
