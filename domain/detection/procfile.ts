import { type Finding, type Refinement, warned } from "./ecosystem.ts";

const LINE = /^([A-Za-z0-9_-]{1,100}):\s*(\S.*)$/;
const MAX_LINES = 1_000;
const MAX_NAMED = 10;

/** Takes the start command from the `web` line of a Procfile. */
export const procfile: Refinement = {
  manifests: ["Procfile"],
  refine(folder, found) {
    const lines = (folder.text("Procfile") ?? "").split(/\r?\n/).slice(0, MAX_LINES);
    const commands = new Map<string, string>();
    for (const line of lines) {
      const [, name, command] = LINE.exec(line.trim()) ?? [];
      if (name !== undefined && command !== undefined) commands.set(name, command);
    }
    const web = commands.get("web");
    const others = [...commands.keys()].filter((name) => name !== "web" && name !== "release");
    if (web === undefined) return others.length === 0 ? found : withoutWeb(found, others);
    const started: Finding = {
      ...found,
      ...(found?.image && { image: { ...found.image, startCommand: null } }),
      processWarnings: [],
      projectType: "app",
      startCommand: withPrograms(web, found?.programs),
      port: portIn(web) ?? found?.port ?? 3000,
      // The Procfile resolves these warnings.
      warnings: (found?.warnings ?? []).filter((warning) => !warning.startsWith("Cannot tell how to start")),
    };
    return warned(started, ...left(others, commands.get("release")));
  },
};

function left(others: readonly string[], release: string | undefined): string[] {
  return [
    ...(others.length === 0
      ? []
      : [
          `Cannot start all of the Procfile: only web is started, not ${named(others)}. Deploy them as projects of their own`,
        ]),
    ...(release === undefined
      ? []
      : ["Cannot run the release line of the Procfile: add what it does to the build or start command"]),
  ];
}

function withoutWeb(found: Finding | undefined, others: readonly string[]): Finding | undefined {
  return (
    found && warned(found, `Cannot take the start command from the Procfile: it has no web line, only ${named(others)}`)
  );
}

function named(names: readonly string[]): string {
  return names.length > MAX_NAMED ? `${names.slice(0, MAX_NAMED).join(", ")} and more` : names.join(", ");
}

/** Adds the project's own programs to the `PATH` of a command. */
function withPrograms(command: string, programs: string | undefined): string {
  return programs === undefined ? command : `export PATH="$PWD/${programs}:$PATH"; ${command}`;
}

/** The port that a command hard-codes instead of reading `$PORT`. */
function portIn(command: string): number | undefined {
  const found = /(?:--port[ =]|-p |-b |--bind[ =])(?:[\d.]{1,15}:)?(\d{2,5})(?:\s|$)/.exec(command)?.[1];
  return found === undefined || Number(found) > 65_535 ? undefined : Number(found);
}
