import { chosenVersion, type ChosenVersion } from "../../chosen_version.ts";
import { type Ecosystem, type Finding } from "../../ecosystem.ts";
import { memberOf, objectOf, textOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { DJANGO_MANIFESTS, djangoProject, managePath } from "./django.ts";
import { variablesRead } from "./env.ts";
import { pythonFramework } from "./frameworks.ts";
import { pythonImage } from "./image.ts";
import { INSTALLER_MANIFESTS, type PythonInstaller, pythonInstaller } from "./installer.ts";
import { PROGRAM_MANIFESTS, programOf } from "./program.ts";
import { REQUIREMENT_FILES, REQUIREMENT_MANIFESTS, requirementsOf } from "./requirements.ts";
import { pathPrefix } from "./servers.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../../tool_versions.ts";

const KNOWN = {
  lines: ["3.14", "3.13", "3.12", "3.11", "3.10", "3.9", "3.8", "3.7", "3.6", "2.7"],
  preset: "3.13",
};
const DECLARING = [...REQUIREMENT_FILES, "pyproject.toml", "Pipfile", "setup.py"];
const ALONE = ["main.py", "app.py", "server.py", "bot.py"];
const NO_START =
  "Cannot tell how to start the project: there is no main.py or app.py, and no application of a known framework. Set the start command";
const TOO_OLD =
  "Cannot install packages for Python 2: it has no virtual environments. Move to Python 3, or add a Dockerfile";
const MAX_SETTINGS = 10;
const PLAIN_SCRIPT = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** Python projects with Django's manage.py, whatever else is beside it. */
export const django: Ecosystem = {
  manifests: DJANGO_MANIFESTS,
  detect: (folder) => (folder.has("manage.py") ? describe(folder) : undefined),
};

/** Python programs and applications. */
export const python: Ecosystem = {
  manifests: [
    ...REQUIREMENT_MANIFESTS,
    ...INSTALLER_MANIFESTS,
    ...PROGRAM_MANIFESTS,
    ...TOOL_VERSION_FILES,
    ".python-version",
    "runtime.txt",
    "config.py",
  ],
  detect: (folder) => (folder.first([...DECLARING, ...ALONE]) === undefined ? undefined : describe(folder)),
  members: workspaceMembers,
};

function describe(folder: ProjectFolder): Finding {
  const requirements = requirementsOf(folder);
  const installer = pythonInstaller(folder, requirements);
  const { version, warnings } = versionOf(folder);
  const interpreter = installer.environment === undefined ? "python3" : `${installer.environment}/bin/python`;
  const found: Finding = {
    language: "python",
    languageVersion: version,
    packageManager: installer.install === undefined ? null : installer.name,
    packageManagerVersion: installer.version ?? null,
    installCommand: installer.install ?? null,
    image: pythonImage(folder, version, installer, requirements),
    ...(installer.environment !== undefined && { programs: `${installer.environment}/bin` }),
    ...started(folder, { requirements, python: interpreter }, installer),
  };
  const said = [
    ...warnings,
    ...(/^[12]\b/.test(version) ? [TOO_OLD] : []),
    ...installer.warnings,
    ...unreadable(folder),
  ];
  return { ...found, warnings: [...said, ...(found.warnings ?? [])] };
}

function started(
  folder: ProjectFolder,
  runner: Parameters<typeof djangoProject>[1],
  installer: PythonInstaller,
): Finding {
  const manage = managePath(folder);
  if (manage !== undefined) return djangoProject(folder, runner, manage);
  const framed = pythonFramework(folder, runner);
  const program = programOf(folder);
  const begins = framed?.path ?? program?.path;
  const env = variablesRead(
    [...settingsIn(folder), ...(begins === undefined ? [] : [begins])].map((path) => folder.text(path)),
  );
  if (framed?.found.startCommand) return { ...framed.found, env };
  if (program === undefined)
    return { ...framed?.found, ...(script(folder, installer) ?? { warnings: [NO_START] }), env };
  const startCommand = `${pathPrefix(program)}${runner.python} -u ${program.arguments}`;
  return { port: 8000, ...framed?.found, startCommand, env };
}

/** Files in which programs usually collect what they read from their environment. */
function settingsIn(folder: ProjectFolder): string[] {
  return folder
    .files()
    .filter((path) => /(?:^|\/)(?:config|settings)\.py$/.test(path) && folder.text(path) !== undefined)
    .slice(0, MAX_SETTINGS);
}

/** The script that the project installs as a package, if it is the only one. */
function script(folder: ProjectFolder, { environment, installItself }: PythonInstaller): Finding | undefined {
  const project = objectOf(folder.data("pyproject.toml"));
  const declared =
    memberOf(memberOf(project, "project"), "scripts") ??
    memberOf(memberOf(memberOf(project, "tool"), "poetry"), "scripts");
  const [name, ...others] = Object.keys(declared ?? {});
  if (name === undefined || others.length > 0 || !PLAIN_SCRIPT.test(name) || environment === undefined)
    return undefined;
  return { buildCommand: installItself, startCommand: `${environment}/bin/${name}`, port: 8000 };
}

function versionOf(folder: ProjectFolder): ChosenVersion {
  const project = objectOf(folder.data("pyproject.toml"));
  const pipfile = memberOf(objectOf(folder.data("Pipfile")), "requires");
  const poetry = memberOf(memberOf(memberOf(project, "tool"), "poetry"), "dependencies");
  const near = (path: string) => folder.outward().find((place) => place.has(path)) ?? folder;
  return chosenVersion(
    "Python",
    [
      { from: "runtime.txt", wanted: versionFile(folder, "runtime.txt")?.replace(/^python-/, "") },
      {
        from: ".python-version",
        wanted: versionFile(near(".python-version"), ".python-version")?.replace(/^(?:python-|cpython-)/, ""),
      },
      { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["python"]) },
      { from: "Pipfile", wanted: textOf(pipfile, "python_full_version") ?? textOf(pipfile, "python_version") },
      { from: "requires-python of pyproject.toml", wanted: textOf(memberOf(project, "project"), "requires-python") },
      { from: "pyproject.toml", wanted: textOf(poetry, "python") },
    ],
    KNOWN,
  );
}

function unreadable(folder: ProjectFolder): string[] {
  const path = ["pyproject.toml", "Pipfile"].find(
    (name) => folder.has(name) && objectOf(folder.data(name)) === undefined,
  );
  return path === undefined ? [] : [`Cannot read ${path}: it is not TOML. Correct it, or set the commands yourself`];
}

/** The members of a uv workspace. */
function workspaceMembers(folder: ProjectFolder): string[] {
  const uv = memberOf(memberOf(objectOf(folder.data("pyproject.toml")), "tool"), "uv");
  const members = memberOf(uv, "workspace")?.["members"];
  const patterns = Array.isArray(members) ? members.filter((pattern) => typeof pattern === "string") : [];
  return patterns.flatMap((pattern) => {
    const [group, rest] = pattern.split("/*", 2);
    if (group === undefined || rest === undefined) return [pattern];
    return folder
      .at(group)
      .folders()
      .map((name) => `${group}/${name}`);
  });
}
