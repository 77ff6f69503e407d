import type { PythonApplication } from "./program.ts";
import type { Requirements } from "./requirements.ts";

/** A Python project that is being inspected. */
export interface PythonRunner {
  readonly requirements: Requirements;
  /** The command of the interpreter that has the installed packages. */
  readonly python: string;
}

/** How an application is served, and the warnings about it. */
export interface Served {
  readonly startCommand: string;
  readonly warnings: readonly string[];
}

type Target = Pick<PythonApplication, "module" | "variable" | "factory" | "base">;

/** Serves an ASGI application; `brings` is the server that its framework includes. */
export function serveAsgi({ requirements, python }: PythonRunner, target: Target, brings?: string): Served {
  const servers = ["uvicorn", "hypercorn", "granian", "daphne"];
  const own = servers.find((name) => requirements.has(name)) ?? brings;
  const run = `${pathPrefix(target)}${python} -m`;
  const application = `${target.module}:${target.variable ?? target.factory}`;
  const isFactory = target.variable === undefined;
  switch (own) {
    case "hypercorn":
      return plain(`${run} hypercorn ${isFactory ? `"${application}()"` : application} --bind 0.0.0.0:$PORT`);
    case "granian":
      return plain(
        `${run} granian --interface asgi --host 0.0.0.0 --port $PORT ${application}${isFactory ? " --factory" : ""}`,
      );
    case "daphne":
      return plain(`${run} daphne -b 0.0.0.0 -p $PORT ${application}`);
    default: {
      const startCommand = `${run} uvicorn ${application}${isFactory ? " --factory" : ""} --host 0.0.0.0 --port $PORT`;
      if (own !== undefined) return plain(startCommand);
      return {
        startCommand,
        warnings: ["Cannot find uvicorn among the requirements: nothing else serves this. Add uvicorn"],
      };
    }
  }
}

/** Serves a WSGI application by a server among the requirements; `undefined` when there is none. */
export function serveWsgi({ requirements, python }: PythonRunner, target: Target): Served | undefined {
  const run = `${pathPrefix(target)}${python} -m`;
  const application = `${target.module}:${target.variable ?? target.factory}`;
  const isFactory = target.variable === undefined;
  if (requirements.has("gunicorn")) {
    return plain(`${run} gunicorn ${isFactory ? `"${application}()"` : application} --bind 0.0.0.0:$PORT`);
  }
  if (requirements.has("granian")) {
    return plain(
      `${run} granian --interface wsgi --host 0.0.0.0 --port $PORT ${application}${isFactory ? " --factory" : ""}`,
    );
  }
  if (!requirements.has("waitress")) return undefined;
  return plain(`${run} waitress --listen=0.0.0.0:$PORT ${isFactory ? "--call " : ""}${application}`);
}

/** The prefix of a command whose modules are not in the project's own folder. */
export function pathPrefix({ base }: { readonly base: string }): string {
  return base === "" ? "" : `PYTHONPATH=${base} `;
}

function plain(startCommand: string): Served {
  return { startCommand, warnings: [] };
}
