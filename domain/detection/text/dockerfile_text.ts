/** Facts about a Dockerfile that are known without building it. */
export interface DockerfileFacts {
  /** Whether it has a base image. */
  readonly buildable: boolean;
  /** The port that the final image listens on, if declared. */
  readonly port: number | undefined;
  /** The build arguments without a default value, in order. */
  readonly openArguments: readonly string[];
}

interface Stage {
  readonly name: string;
  readonly base: string;
  readonly exposed: string[];
  readonly values: Map<string, string>;
}

/** Longer than any hand-written Dockerfile. */
const MAX_TEXT = 262_144;
const MAX_LENGTH = 2_000;
const MAX_STAGES = 100;
/** SSH ports, and TLS ports, as the edge terminates TLS: used only when no other port is exposed. */
const ASIDE = new Set([22, 443, 8443]);
const REFERENCE = /^\$\{?([A-Za-z_]\w{0,60})(?::-(\d{1,5}))?\}?$/;
/** Build arguments that every builder provides. */
const GIVEN = new Set([
  "TARGETPLATFORM",
  "TARGETOS",
  "TARGETARCH",
  "TARGETVARIANT",
  "BUILDPLATFORM",
  "BUILDOS",
  "BUILDARCH",
  "BUILDVARIANT",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "FTP_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "PORT",
  "SOURCE_DATE_EPOCH",
]);

/** Parses the instructions of a Dockerfile that declare its port and its build arguments. */
export function dockerfileFacts(text: string): DockerfileFacts {
  const stages: Stage[] = [];
  const before = new Map<string, string>();
  const open = new Set<string>();
  const given = new Set<string>();
  for (const [name, rest] of instructionsOf(text)) {
    const stage = stages.at(-1);
    const values = stage?.values ?? before;
    if (name === "FROM" && stages.length < MAX_STAGES) stages.push(stageOf(rest, stages.length));
    else if (name === "EXPOSE") stage?.exposed.push(...rest.split(/\s+/));
    else if (name === "ENV") for (const [key, value] of pairsOf(rest)) values.set(key, filled(value, values));
    else if (name === "ARG") {
      for (const word of rest.split(/\s+/)) {
        const [key = "", ...value] = word.split("=");
        if (value.length > 0) {
          values.set(key, unquoted(value.join("=")));
          given.add(key);
        } else if (/^[A-Za-z_]\w{0,60}$/.test(key)) {
          open.add(key);
          const known = before.get(key);
          if (known !== undefined) values.set(key, known);
        }
      }
    }
  }
  return {
    buildable: stages.length > 0,
    port: portOf(stages),
    openArguments: [...open].filter((name) => !given.has(name) && !GIVEN.has(name.toUpperCase())),
  };
}

/** Returns the instructions in upper case with their arguments; joins continued lines. */
function instructionsOf(text: string): [name: string, rest: string][] {
  const found: [string, string][] = [];
  let line = "";
  for (const written of text.slice(0, MAX_TEXT).split("\n")) {
    const part = written.trim();
    if (part === "" || part.startsWith("#")) continue;
    const goesOn = part.endsWith("\\");
    if (line.length < MAX_LENGTH) line += ` ${goesOn ? part.slice(0, -1) : part}`.slice(0, MAX_LENGTH);
    if (goesOn) continue;
    const [, name, rest] = /^ ([A-Za-z]{3,12})[ \t]+(\S.*)$/s.exec(line) ?? [];
    if (name !== undefined && rest !== undefined) found.push([name.toUpperCase(), rest]);
    line = "";
  }
  return found;
}

function stageOf(rest: string, index: number): Stage {
  const words = rest.split(/\s+/).filter((word) => !word.startsWith("--"));
  const named = words[1]?.toUpperCase() === "AS" ? words[2] : undefined;
  return { name: (named ?? String(index)).toLowerCase(), base: words[0] ?? "", exposed: [], values: new Map() };
}

/** `A=1 B="x y"`, and the old form `A 1`. */
function pairsOf(rest: string): [string, string][] {
  const old = /^([A-Za-z_]\w{0,60})[ \t]+([^=]*)$/.exec(rest);
  if (old !== null) return [[old[1]!, unquoted(old[2]!.trim())]];
  const words = [...rest.matchAll(/([A-Za-z_]\w{0,60})=("[^"]*"|\S*)/g)];
  return words.map(([, key = "", value = ""]) => [key, unquoted(value)]);
}

function unquoted(value: string): string {
  return value.replace(/^(["'])(.*)\1$/s, "$2");
}

/** The port of the last stage, or of the stages that it is based on. */
function portOf(stages: readonly Stage[]): number | undefined {
  const values = new Map<string, string>();
  let stage = stages.at(-1);
  for (let steps = 0; stage !== undefined && steps < stages.length; steps++) {
    for (const [key, value] of stage.values) if (!values.has(key)) values.set(key, value);
    const ports = stage.exposed.flatMap((word) => portIn(word, values) ?? []);
    const port = ports.find((number) => !ASIDE.has(number)) ?? ports[0];
    if (port !== undefined) return port;
    const { base, name } = stage;
    stage = stages.findLast((other) => other.name === base.toLowerCase() && other.name !== name);
  }
  return portIn(values.get("PORT") ?? "", values);
}

/** Resolves a value that refers to another variable. */
function filled(value: string, values: ReadonlyMap<string, string>): string {
  const [, name, preset] = REFERENCE.exec(value) ?? [];
  return name === undefined ? value : (values.get(name) ?? preset ?? "");
}

function portIn(word: string, values: ReadonlyMap<string, string>): number | undefined {
  const written = filled(word.replace(/\/tcp$/i, ""), values);
  const port = Number(/^(\d{1,5})(?:-\d{1,5})?$/.exec(written)?.[1]);
  return port > 0 && port <= 65_535 ? port : undefined;
}
