import { portNumber } from "../../../../domain/port_number.ts";
import type { RuntimeName } from "../../../../domain/projects/project.ts";
import { type Run, logLine } from "../run.ts";

/**
 * Logs that a variable `PORT` has no effect. In a container it sets the port that the app listens on; a process gets a
 * free port.
 */
export function sayPort(run: Run, runtime: RuntimeName): void {
  const given = run.environment.get("PORT");
  if (given === undefined) return;
  const unused = "The variable PORT is not used:";
  if (runtime === "process") logLine(run, "detect", `${unused} a process gets a free port of the machine in PORT`);
  else if (portNumber(given.reveal()) === null) {
    logLine(run, "detect", `${unused} it is not a whole number from 1 to 65535`, "warn");
  }
}
