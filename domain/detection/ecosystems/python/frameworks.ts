import type { Finding } from "../../ecosystem.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { applicationOf, programOf, type PythonApplication } from "./program.ts";
import { pathPrefix, type PythonRunner, serveAsgi, type Served, serveWsgi } from "./servers.ts";

/** A framework whose application is served by a separate server. */
interface ServedFramework {
  readonly name: string;
  readonly package: string;
  /** The classes and functions that create an application. */
  readonly makers: readonly string[];
  readonly port: number;
  serve(runner: PythonRunner, application: PythonApplication): Served;
}

const SERVED: readonly ServedFramework[] = [
  {
    name: "fasthtml",
    package: "python-fasthtml",
    makers: ["FastHTML", "fast_app", "FastHTMLWithLiveReload"],
    port: 5001,
    serve: (runner, application) => serveAsgi(runner, application, "uvicorn"),
  },
  {
    name: "fastapi",
    package: "fastapi",
    makers: ["FastAPI"],
    port: 8000,
    serve: (runner, application) => serveAsgi(runner, application, standard(runner, "fastapi")),
  },
  {
    name: "litestar",
    package: "litestar",
    makers: ["Litestar"],
    port: 8000,
    serve: (runner, application) => serveAsgi(runner, application, standard(runner, "litestar")),
  },
  {
    name: "quart",
    package: "quart",
    makers: ["Quart"],
    port: 5000,
    serve: (runner, application) => serveAsgi(runner, application, "hypercorn"),
  },
  {
    name: "starlette",
    package: "starlette",
    makers: ["Starlette"],
    port: 8000,
    serve: (runner, application) => serveAsgi(runner, application),
  },
  { name: "sanic", package: "sanic", makers: ["Sanic"], port: 8000, serve: sanic },
  { name: "dash", package: "dash", makers: ["Dash"], port: 8050, serve: dash },
  { name: "flask", package: "flask", makers: ["Flask"], port: 5000, serve: flask },
];

/** Frameworks whose programs serve by themselves. */
const STANDING_ALONE: readonly (readonly [name: string, port: number])[] = [
  ["aiohttp", 8080],
  ["tornado", 8888],
  ["bottle", 8080],
];
const PAGES = ["streamlit_app.py", "app.py", "main.py", "Home.py", "Hello.py", "src/app.py", "src/main.py"];

/** A project of a known framework, and its entry file. */
interface Framed {
  readonly found: Finding;
  readonly path?: string;
}

/** Describes a project of a known framework; `undefined` when it uses none or its application is not found. */
export function pythonFramework(folder: ProjectFolder, runner: PythonRunner): Framed | undefined {
  return scripted(folder, runner) ?? served(folder, runner);
}

function served(folder: ProjectFolder, runner: PythonRunner): Framed | undefined {
  for (const { name, package: needed, makers, port, serve } of SERVED) {
    const application = runner.requirements.has(needed) ? applicationOf(folder, makers) : undefined;
    if (application !== undefined) {
      return { found: { framework: name, port, ...serve(runner, application) }, path: application.path };
    }
  }
  const alone = STANDING_ALONE.find(([name]) => runner.requirements.has(name));
  return alone && { found: { framework: alone[0], port: alone[1] } };
}

/** Programs that a tool runs, or that read their listen address from the tool's variables. */
function scripted(folder: ProjectFolder, { requirements, python }: PythonRunner): Framed | undefined {
  const page = folder.first(PAGES);
  if (requirements.has("streamlit") && page !== undefined) {
    const options = "--server.port $PORT --server.address 0.0.0.0 --server.headless true";
    const startCommand = `${python} -m streamlit run ${page} ${options}`;
    return { found: { framework: "streamlit", port: 8501, startCommand }, path: page };
  }
  const program = requirements.has("gradio") ? programOf(folder) : undefined;
  if (program === undefined || requirements.has("fastapi")) return undefined;
  const variables = "GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT";
  const startCommand = `${variables} ${pathPrefix(program)}${python} -u ${program.arguments}`;
  return { found: { framework: "gradio", port: 7860, startCommand }, path: program.path };
}

/** FastAPI and Litestar include uvicorn only with one of these extras. */
function standard({ requirements }: PythonRunner, name: string): string | undefined {
  const brings = ["standard", "all", "full"].some((extra) => requirements.hasExtra(name, extra));
  return brings ? "uvicorn" : undefined;
}

function sanic({ python }: PythonRunner, application: PythonApplication): Served {
  const target = `${application.module}:${application.variable ?? application.factory}`;
  const factory = application.variable === undefined ? " --factory" : "";
  return {
    startCommand: `${pathPrefix(application)}${python} -m sanic ${target}${factory} --host=0.0.0.0 --port=$PORT`,
    warnings: [],
  };
}

/** Serves the Flask application inside, which is usually named `server`. */
function dash(runner: PythonRunner, application: PythonApplication): Served {
  const inside = { ...application, variable: "server" };
  const alone = `${runner.python} -u ${application.path}`;
  return serveWsgi(runner, inside) ?? { startCommand: alone, warnings: [withoutServer("Dash")] };
}

function flask(runner: PythonRunner, application: PythonApplication): Served {
  const target = `${application.module}:${application.variable ?? application.factory}`;
  return (
    serveWsgi(runner, application) ?? {
      startCommand: `${pathPrefix(application)}${runner.python} -m flask --app ${target} run --host 0.0.0.0 --port $PORT`,
      warnings: [withoutServer("Flask")],
    }
  );
}

/** The warning about a framework that must use its own development server. */
export function withoutServer(framework: string): string {
  return `Cannot find gunicorn among the requirements: ${framework}'s server for development is used. Add gunicorn`;
}
