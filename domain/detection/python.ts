import type { Ecosystem, Finding } from "./ecosystem.ts";
import type { ProjectFolder } from "./project_folder.ts";

/** A tool that installs Python packages. */
interface Installer {
  readonly name: string;
  /** Any of these files tells that it is used. */
  readonly files: readonly string[];
  readonly install: string;
  /** Before a program of an installed package. */
  readonly run: string;
}

const INSTALLERS: readonly Installer[] = [
  { name: "uv", files: ["uv.lock"], install: "uv sync --frozen", run: "uv run " },
  { name: "poetry", files: ["poetry.lock"], install: "poetry install --no-root", run: "poetry run " },
  { name: "pipenv", files: ["Pipfile", "Pipfile.lock"], install: "pipenv install", run: "pipenv run " },
  { name: "pip", files: ["requirements.txt"], install: "pip install -r requirements.txt", run: "" },
  { name: "pip", files: ["pyproject.toml", "setup.py"], install: "pip install .", run: "" },
];
const NO_INSTALLER: Installer = { name: "pip", files: [], install: "", run: "" };
const MANIFESTS = ["requirements.txt", "pyproject.toml", "Pipfile", "setup.py"];
const PROGRAMS = ["main.py", "app.py", "server.py", "app/main.py", "src/main.py", "src/app.py", "app/__init__.py"];

/** Python programs, with Django, FastAPI and Flask known by name. */
export const python: Ecosystem = {
  manifests: [...MANIFESTS, "main.py", "app.py", "server.py", "__init__.py"],
  detect(folder) {
    const declared = folder.first([...MANIFESTS, "manage.py"]) !== undefined;
    if (!declared && folder.first(["main.py", "app.py", "server.py"]) === undefined) return undefined;
    const installer = INSTALLERS.find(({ files }) => folder.first(files) !== undefined) ?? NO_INSTALLER;
    const served = django(folder, installer) ?? fastApi(folder, installer) ?? flask(folder, installer);
    const path = folder.first(PROGRAMS.filter((name) => !name.endsWith("__init__.py")));
    const plain: Finding =
      path === undefined ? noStart() : { startCommand: `${installer.run}python ${path}`, port: 8000 };
    return {
      language: "python",
      packageManager: installer.name,
      installCommand: installer.install || null,
      ...(served ?? plain),
    };
  },
};

function noStart(): Finding {
  return { warnings: ["Cannot tell how to start the project: there is no main.py or app.py. Set the start command"] };
}

function requires(folder: ProjectFolder, name: string): boolean {
  const wanted = new RegExp(`(?:^|["'\\s])${name}(?:$|["'\\s\\[<>=~!;,@])`, "im");
  return MANIFESTS.some((path) => wanted.test(folder.text(path) ?? ""));
}

function django(folder: ProjectFolder, { run }: Installer): Finding | undefined {
  if (!folder.has("manage.py")) return undefined;
  const found = { framework: "django", port: 8000 };
  const wsgi = folder.files().find((path) => /^[A-Za-z_]\w*\/wsgi\.py$/.test(path));
  if (wsgi !== undefined && requires(folder, "gunicorn")) {
    const module = wsgi.slice(0, wsgi.indexOf("/"));
    return { ...found, startCommand: `${run}gunicorn ${module}.wsgi:application --bind 0.0.0.0:$PORT` };
  }
  return {
    ...found,
    startCommand: `${run}python manage.py runserver 0.0.0.0:$PORT`,
    warnings: ["Cannot find gunicorn among the requirements: Django's server for development is used. Add gunicorn"],
  };
}

function fastApi(folder: ProjectFolder, { run }: Installer): Finding | undefined {
  if (!requires(folder, "fastapi")) return undefined;
  const application = applicationOf(folder, "FastAPI") ?? "main:app";
  return {
    framework: "fastapi",
    startCommand: `${run}uvicorn ${application} --host 0.0.0.0 --port $PORT`,
    port: 8000,
  };
}

function flask(folder: ProjectFolder, { run }: Installer): Finding | undefined {
  if (!requires(folder, "flask")) return undefined;
  const application = applicationOf(folder, "Flask") ?? "app:app";
  const startCommand = requires(folder, "gunicorn")
    ? `${run}gunicorn ${application} --bind 0.0.0.0:$PORT`
    : `${run}flask --app ${application} run --host 0.0.0.0 --port $PORT`;
  return { framework: "flask", startCommand, port: 5000 };
}

/** The `module:variable` that holds an application of this class. */
function applicationOf(folder: ProjectFolder, type: "FastAPI" | "Flask"): string | undefined {
  const assigned = new RegExp(`^([A-Za-z_]\\w*)(?:[ \\t]*:[ \\t]*\\w+)?[ \\t]*=[ \\t]*(?:\\w+\\.)?${type}\\(`, "m");
  for (const path of PROGRAMS) {
    const variable = assigned.exec(folder.text(path) ?? "")?.[1];
    if (variable === undefined) continue;
    const module = path.replace(/(?:\/__init__)?\.py$/, "").replaceAll("/", ".");
    return `${module}:${variable}`;
  }
  return undefined;
}
