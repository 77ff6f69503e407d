import type { Finding } from "../../ecosystem.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { variablesRead } from "./env.ts";
import { withoutServer } from "./frameworks.ts";
import { type PythonRunner, serveAsgi, type Served, serveWsgi } from "./servers.ts";

/** Names of the files that are read. */
export const DJANGO_MANIFESTS = ["manage.py", "settings.py", "base.py", "production.py", "prod.py"];

const MANAGE = /^(?:[A-Za-z_]\w{0,99}\/)?manage\.py$/;
const PLAIN = /^[A-Za-z_]\w{0,99}$/;
const DEVELOPERS = /\.(?:local|dev|develop|development)$/;
const SETTINGS_MODULE = /DJANGO_SETTINGS_MODULE["'][ \t]{0,9},\s{0,99}["']([A-Za-z_][\w.]{0,199})["']/;

/** The path of manage.py, in this folder or in one directly below it. */
export function managePath(folder: ProjectFolder): string | undefined {
  if (folder.has("manage.py")) return "manage.py";
  return folder
    .folders()
    .map((name) => `${name}/manage.py`)
    .find((path) => MANAGE.test(path) && folder.has(path));
}

/** Describes a Django project by its manage.py. */
export function djangoProject(folder: ProjectFolder, runner: PythonRunner, manage: string): Finding {
  const base = manage.slice(0, -"/manage.py".length);
  const inside = base === "" ? folder : folder.at(base);
  const named = settingsNamedIn(folder.text(manage));
  const settings = settingsFiles(inside, named);
  const texts = settings.map((path) => ({
    path: base === "" ? path : `${base}/${path}`,
    text: inside.text(path) ?? "",
  }));
  const { startCommand, warnings, module } = serve({ inside, runner, base, manage, named });
  const served = module === undefined ? named : settingsNamedIn(inside.text(`${module.replaceAll(".", "/")}.py`));
  const wanted = settingsForProduction(inside, served ?? named);
  // Collects static files only if there is a folder for them.
  const collects = texts.some(({ text }) => /^[ \t]{0,20}STATIC_ROOT\s{0,9}=/m.test(text));
  return {
    framework: "django",
    port: 8000,
    startCommand: `${settingsPrefix(wanted, served)}${startCommand}`,
    buildCommand: collects
      ? `${settingsPrefix(wanted, named)}${runner.python} ${manage} collectstatic --noinput`
      : null,
    env: variablesRead(texts.map(({ text }) => text)),
    warnings: [...warnings, ...unsafe(texts)],
  };
}

interface Project {
  readonly inside: ProjectFolder;
  readonly runner: PythonRunner;
  readonly base: string;
  readonly manage: string;
  /** The settings module that manage.py names. */
  readonly named: string | undefined;
}

function settingsNamedIn(text = ""): string | undefined {
  return SETTINGS_MODULE.exec(text)?.[1];
}

/** The settings module for production, in place of one for development if both exist. */
function settingsForProduction(inside: ProjectFolder, named: string | undefined): string | undefined {
  const inPackage = named?.slice(0, named.lastIndexOf(".") + 1) ?? "";
  if (named === undefined || !DEVELOPERS.test(named)) return named;
  const found = ["production", "prod"].find((name) => inside.has(`${inPackage.replaceAll(".", "/")}${name}.py`));
  return found === undefined ? named : `${inPackage}${found}`;
}

/** Sets the settings module for a command that would use another one; a variable of the project takes precedence. */
function settingsPrefix(wanted: string | undefined, taken: string | undefined): string {
  if (wanted === undefined || wanted === taken) return "";
  return `DJANGO_SETTINGS_MODULE="\${DJANGO_SETTINGS_MODULE:-${wanted}}" `;
}

function serve({ inside, runner, base, manage, named }: Project): Served & { readonly module?: string } {
  const { requirements, python } = runner;
  const wsgi = moduleOf(inside, "wsgi", named);
  const asgi = moduleOf(inside, "asgi", named);
  const target = (module: string) => ({ module, variable: "application", factory: undefined, base });
  const isAsync = requirements.has("channels") || requirements.has("daphne") || wsgi === undefined;
  const hasAsyncServer = ["uvicorn", "hypercorn", "granian", "daphne"].some((name) => requirements.has(name));
  if (asgi !== undefined && hasAsyncServer && (isAsync || !requirements.has("gunicorn"))) {
    return { ...serveAsgi(runner, target(asgi)), module: asgi };
  }
  const served = wsgi === undefined ? undefined : serveWsgi(runner, target(wsgi));
  if (served !== undefined && wsgi !== undefined) return { ...served, module: wsgi };
  return {
    startCommand: `${python} ${manage} runserver 0.0.0.0:$PORT --noreload`,
    warnings: [withoutServer("Django")],
  };
}

/** The module such as `shop.wsgi` for `shop/wsgi.py`; the one beside the settings if there are several. */
function moduleOf(inside: ProjectFolder, name: "wsgi" | "asgi", named: string | undefined): string | undefined {
  const packages = named?.split(".").slice(0, -1) ?? [];
  for (let depth = packages.length; depth > 0; depth--) {
    const path = packages.slice(0, depth).join("/");
    if (inside.has(`${path}/${name}.py`)) return `${path.replaceAll("/", ".")}.${name}`;
  }
  const found = inside.folders().find((folder) => PLAIN.test(folder) && inside.has(`${folder}/${name}.py`));
  return found === undefined ? undefined : `${found}.${name}`;
}

/** The settings module that manage.py names, and the base and production modules beside it. */
function settingsFiles(inside: ProjectFolder, named: string | undefined): string[] {
  const path = named?.replaceAll(".", "/") ?? "";
  const beside = path.slice(0, path.lastIndexOf("/") + 1);
  const found = inside.folders().flatMap((name) => (PLAIN.test(name) ? [`${name}/settings.py`] : []));
  const split = ["base.py", "production.py", "prod.py"].map((name) => `${beside}${name}`);
  const own =
    path === "" ? found : [`${path}.py`, ...(beside === "" ? [] : split), `${path}/base.py`, `${path}/production.py`];
  return [...new Set(own)].filter((file) => inside.has(file));
}

/** Warns about settings of a new project that must be changed before it is public. */
function unsafe(settings: readonly { readonly path: string; readonly text: string }[]): string[] {
  const production = settings.find(({ path }) => /(?:production|prod)\.py$/.test(path));
  return (production ? [production] : settings).flatMap(({ path, text }) => [
    ...(/^DEBUG\s{0,9}=\s{0,9}True\b/m.test(text)
      ? [
          `Cannot hide error details from visitors: ${path} sets DEBUG = True. Read it from a variable, and leave it off here`,
        ]
      : []),
    ...(/^ALLOWED_HOSTS\s{0,9}=\s{0,9}\[\s{0,9}\]/m.test(text)
      ? [
          `Cannot be reached by its domain: ALLOWED_HOSTS in ${path} is empty. Name the domain there, or read it from a variable`,
        ]
      : []),
  ]);
}
