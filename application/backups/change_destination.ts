import type { BackupDestination } from "../../domain/backups/destination.ts";
import { type DestinationInput, readChange } from "../../domain/backups/destination_input.ts";
import { conflict } from "../../domain/failure.ts";
import { demand, type Principal } from "../../domain/identity/permission.ts";
import { checkSettings } from "./check_settings.ts";
import type { CreateDestinationPorts } from "./create_destination.ts";
import { findDestination } from "./find_destination.ts";

const ATTEMPTS = 5;

/**
 * Changes the given fields of a destination and validates the whole; a new target or new credentials reset the result
 * of the last preflight. Only an admin drops or replaces a recorded host key, and so only an admin moves a destination
 * that has one.
 */
export function changeDestination(ports: CreateDestinationPorts) {
  const find = findDestination(ports);
  const check = checkSettings(ports);
  return async function (by: Principal, id: string, input: DestinationInput): Promise<BackupDestination> {
    // Stores only what was validated: when another caller changes the destination meanwhile, it is read and checked
    // again.
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const destination = await find(by, id, "backup_destination:write");
      const change = await readChange(destination, input);
      const { sshHostKey } = destination;
      if (sshHostKey !== null && change.settings.sshHostKey !== sshHostKey) {
        demand(by, "backup_destination:admin", { id });
      }
      await check(by, destination.kind, change.settings);
      const at = ports.clock.now();
      const changed = await ports.backupDestinations.change(by.organizationId, destination, { ...change, at });
      if (changed) return changed;
    }
    throw conflict("changed_meanwhile", "Cannot change this backup destination: others are changing it. Try again");
  };
}
