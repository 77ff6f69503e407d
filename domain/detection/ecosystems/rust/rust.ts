import { chosenVersion, type ChosenVersion } from "../../chosen_version.ts";
import type { DetectedVariable } from "../../detection.ts";
import type { Ecosystem, Finding } from "../../ecosystem.ts";
import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { rustImage } from "./image.ts";
import { type RustPackage, rustPackage, workspaceMembers } from "./package.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../../tool_versions.ts";
import { versionFor } from "../../version_range.ts";

/** Server crates, the most specific first, with the ports that their examples listen on. */
const FRAMEWORKS: readonly (readonly [crate: string, name: string, port: number])[] = [
  ["rocket", "rocket", 8000],
  ["axum", "axum", 3000],
  ["actix-web", "actix", 8080],
  ["warp", "warp", 3030],
  ["poem", "poem", 3000],
  ["salvo", "salvo", 8080],
  ["tide", "tide", 8080],
  ["hyper", "hyper", 3000],
];
const KNOWN = {
  lines: Array.from({ length: 26 }, (_, index) => `1.${95 - index}`),
  preset: "1.90",
};
const CHANNEL = /^(stable|beta|nightly)(?:-|$)/;
const UNREADABLE = "Cannot read Cargo.toml: it is not TOML. Correct it, or set the commands yourself";
const NO_PROGRAM =
  "Cannot tell what to start: this is a library, with no src/main.rs and no [[bin]]. Set the build and start commands";

/** Cargo packages and workspaces. */
export const rust: Ecosystem = {
  manifests: ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "rust-toolchain", ...TOOL_VERSION_FILES],
  detect(folder) {
    if (!folder.has("Cargo.toml")) return undefined;
    const manifest = objectOf(folder.data("Cargo.toml"));
    const chosen = packageToRun(folder);
    const { version, warnings } = versionOf(folder, [manifest, chosen?.manifest]);
    const found: Finding = { language: "rust", languageVersion: version, packageManager: "cargo", warnings };
    if (manifest === undefined) return { ...found, warnings: [UNREADABLE], broken: true };
    const program = chosen?.programs[0];
    if (chosen === undefined || program === undefined) return { ...found, warnings: [...warnings, NO_PROGRAM] };
    // There are no images of channels, but their toolchain downloads the one that the project names.
    const tag = /^\d/.test(version) ? version : KNOWN.preset;
    return { ...found, ...built(folder, { chosen, program, tag }), warnings: [...warnings, ...doubts(chosen)] };
  },
  members: (folder) => workspaceMembers(folder),
};

/**
 * Picks the package at the root, else the only member that serves, else the only one with a program. Of several, each
 * is deployed from its own folder.
 */
function packageToRun(folder: ProjectFolder): RustPackage | undefined {
  const own = rustPackage(folder, "");
  if (own !== undefined && own.programs.length > 0) return own;
  const preset = workspaceMembers(folder, "default-members");
  const paths = preset.length > 0 ? preset : workspaceMembers(folder);
  const packages = paths.flatMap((path) => rustPackage(folder, path) ?? []);
  const runnable = packages.filter(
    ({ path, programs }) => programs.length > 0 && folder.commandPath(`${path}/Cargo.toml`),
  );
  const serving = runnable.filter((candidate) => frameworkOf(candidate) !== undefined);
  const candidates = serving.length > 0 ? serving : runnable;
  return candidates.length === 1 ? candidates[0] : undefined;
}

interface Choice {
  readonly chosen: RustPackage;
  readonly program: string;
  /** The version in the image tag. */
  readonly tag: string;
}

function built(folder: ProjectFolder, { chosen, program, tag }: Choice): Finding {
  const root = folder.outward().find((place) => isWorkspaceOf(place, folder)) ?? folder;
  const locked = root.has("Cargo.lock") ? " --locked" : "";
  const path = chosen.path === "" ? "." : chosen.path;
  const framework = frameworkOf(chosen);
  const listens = framework?.[1] === "rocket" ? "ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT " : "";
  return {
    framework: framework?.[1] ?? null,
    installCommand: `cargo fetch${locked}`,
    // The output path is the same, wherever Cargo compiles to.
    buildCommand: `cargo install --path ${path} --bin ${program} --root . --no-track --force${locked}`,
    startCommand: `${listens}./bin/${program}`,
    port: framework?.[2] ?? 8080,
    image: rustImage(folder, { root, program, path: chosen.path, version: tag }),
    env: variables(folder, chosen),
  };
}

function isWorkspaceOf(place: ProjectFolder, folder: ProjectFolder): boolean {
  if (place.path === folder.path) return false;
  const inside = place.path === "" ? folder.path : folder.path.slice(place.path.length + 1);
  return workspaceMembers(place).includes(inside);
}

function dependenciesOf({ manifest }: RustPackage): JsonObject {
  return memberOf(manifest, "dependencies") ?? {};
}

function frameworkOf(candidate: RustPackage): (typeof FRAMEWORKS)[number] | undefined {
  return FRAMEWORKS.find(([crate]) => Object.hasOwn(dependenciesOf(candidate), crate));
}

function doubts({ isSure, programs: [chosen, ...others] }: RustPackage): string[] {
  if (isSure) return [];
  const names = [chosen, ...others].slice(0, 20).join(", ");
  return [`Cannot be sure what to start: there are ${names}. ${chosen} is used; set default-run in Cargo.toml`];
}

/** Diesel and SQLx read `DATABASE_URL` by convention; it is detected where the project keeps its migrations. */
function variables(folder: ProjectFolder, chosen: RustPackage): DetectedVariable[] {
  const usesDatabase = ["diesel", "sqlx"].some((crate) => Object.hasOwn(dependenciesOf(chosen), crate));
  const isKept = folder.has("diesel.toml") || folder.hasFolder("migrations") || folder.hasFolder(".sqlx");
  return usesDatabase && isKept ? [{ key: "DATABASE_URL", required: true }] : [];
}

function channelOf(folder: ProjectFolder): string | undefined {
  const place = folder.outward().find((one) => one.first(["rust-toolchain", "rust-toolchain.toml"]) !== undefined);
  if (place === undefined) return undefined;
  const path = place.first(["rust-toolchain", "rust-toolchain.toml"])!;
  const channel = textOf(memberOf(objectOf(place.data(path)), "toolchain"), "channel");
  return channel ?? (path === "rust-toolchain" ? versionFile(place, path) : undefined);
}

function versionOf(folder: ProjectFolder, manifests: readonly (JsonObject | undefined)[]): ChosenVersion {
  const channel = channelOf(folder);
  const named = CHANNEL.exec(channel ?? "")?.[1];
  if (named === "nightly" || named === "beta") return { version: named, warnings: [] };
  const lowest = manifests
    .flatMap((manifest) => [memberOf(manifest, "package"), memberOf(memberOf(manifest, "workspace"), "package")])
    .flatMap((table) => textOf(table, "rust-version") ?? [])
    .at(0);
  return chosenVersion(
    "Rust",
    [
      { from: "rust-toolchain", wanted: named === undefined ? channel : undefined },
      { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["rust"]) },
      { from: "rust-version of Cargo.toml", wanted: lowest === undefined ? undefined : atLeast(lowest) },
    ],
    KNOWN,
  );
}

/** A version newer than the known ones is used unchanged. */
function atLeast(lowest: string): string {
  return versionFor(`>=${lowest}`, KNOWN) === undefined ? lowest : `>=${lowest}`;
}
