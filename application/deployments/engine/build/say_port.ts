import { portNumber } from "../../../../domain/port_number.ts";
import type { RuntimeName } from "../../../../domain/projects/project.ts";
import { type Run, logLine } from "../run.ts";

/**
 * Logs that a variable `PORT`, of the project or of one of these services, has no effect. In a container it sets the
 * port that the app listens on; a process gets a free port.
 */
export function sayPort(run: Run, runtime: RuntimeName, services: readonly string[]): void {
  for (const key of ["PORT", ...services.map((name) => `${name}/PORT`)]) {
    const given = run.environment.get(key);
    if (given === undefined) continue;
    const unused = `The variable ${key} is not used:`;
    if (runtime === "process") logLine(run, "detect", `${unused} a process gets a free port of the machine in PORT`);
    else if (portNumber(given.reveal()) === null) {
      logLine(run, "detect", `${unused} it is not a whole number from 1 to 65535`, "warn");
    }
  }
}
