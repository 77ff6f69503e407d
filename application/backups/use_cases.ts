import type { ApplicationPorts } from "../application_ports.ts";
import { changeDestination } from "./change_destination.ts";
import { createDestination } from "./create_destination.ts";
import { findDestination } from "./find_destination.ts";
import { listDestinations } from "./list_destinations.ts";
import { preflightDestination, preflightDraft } from "./preflight.ts";
import { removeDestination } from "./remove_destination.ts";

export type BackupUseCases = ReturnType<typeof backupUseCases>;

/** The use cases of backup destinations. */
export function backupUseCases(ports: ApplicationPorts) {
  return {
    changeDestination: changeDestination(ports),
    createDestination: createDestination(ports),
    findDestination: findDestination(ports),
    listDestinations: listDestinations(ports),
    preflightDestination: preflightDestination(ports),
    preflightDraft: preflightDraft(ports),
    removeDestination: removeDestination(ports),
  };
}
