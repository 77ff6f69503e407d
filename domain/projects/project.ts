import { invalid, invalidField } from "../failure.ts";
import type { PublicEndpoint, ServiceDefinition } from "../services/service_definition.ts";
import { isHostPath } from "../services/host_access.ts";
import { checkPreviews, PREVIEW_DEFAULTS, type PreviewSettings } from "./previews.ts";

export const PROJECT_TYPES = ["app", "static", "docker", "services"] as const;
export const RUNTIMES = ["docker", "process"] as const;

export type ProjectType = (typeof PROJECT_TYPES)[number];
export type RuntimeName = (typeof RUNTIMES)[number];
export type ProjectLocation = "local" | "server" | "cloud";
/** The source of the code. */
export type ProjectSource = "githost" | "git" | "local" | "upload";

/** Settings that a user may set on a project; absent means "detect it" or "the default". */
export interface ProjectSettings {
  readonly gitOwner?: string;
  readonly gitRepo?: string;
  readonly gitBranch?: string;
  readonly gitUrl?: string;
  /** Whether a member who can see the repository linked it; only then builds use the git host's connection. */
  readonly gitAccess?: boolean;
  /** Whether that member sees all repositories of the owner; only then builds clone its private submodules. */
  readonly gitSubmodules?: boolean;
  readonly localPath?: string;
  /** Whether an admin set `localPath`; then everyone who may deploy the project may deploy from it. */
  readonly localPathByAdmin?: boolean;
  readonly autoDeploy?: boolean;
  /** Previews of pull requests. */
  readonly previews?: PreviewSettings;
  readonly framework?: string;
  readonly packageManager?: string;
  readonly installCommand?: string;
  readonly buildCommand?: string;
  readonly startCommand?: string;
  readonly outputDirectory?: string;
  readonly rootDirectory?: string;
  readonly dockerfile?: string;
  readonly buildTarget?: string;
  readonly buildArgs?: Readonly<Record<string, string>>;
  readonly port?: number;
  readonly projectType?: ProjectType;
  readonly services?: readonly ServiceDefinition[];
  readonly publicEndpoints?: readonly PublicEndpoint[];
  readonly rollbackWindow?: number;
  readonly healthPath?: string;
  readonly requireApproval?: boolean;
  readonly runtime?: RuntimeName;
  /** Whether the linked cloud has a copy of it, also after it was moved back. */
  readonly inCloud?: boolean;
  /** Host paths, and engine names of volumes, that its services may mount; only an admin may change them. */
  readonly hostPaths?: readonly string[];
}

/** Settings to change; `null` resets a setting to its default. */
export type ProjectSettingsChange = { readonly [Key in keyof ProjectSettings]?: ProjectSettings[Key] | null };

/** A unit of deployment: the code and settings that deployments are made from. */
export interface Project {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  /** Unique in the organization. */
  readonly slug: string;
  /** Its free address under the base domain, unique in the installation. */
  readonly hostname: string;
  readonly settings: ProjectSettings;
  readonly location: ProjectLocation;
  readonly serverId: string | null;
  readonly activeDeploymentId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Returns the source of a project's code. */
export function sourceOf({ gitOwner, gitRepo, gitUrl, localPath }: ProjectSettings): ProjectSource {
  if (gitOwner && gitRepo) return "githost";
  if (gitUrl) return "git";
  return localPath ? "local" : "upload";
}

/** Returns the rules for previews of a project's pull requests. */
export function previewsOf({ settings }: Pick<Project, "settings">): PreviewSettings {
  return settings.previews ?? PREVIEW_DEFAULTS;
}

/** Maximum size of a project's settings as JSON, in bytes; a page of projects holds the settings of a hundred. */
export const SETTINGS_BYTES = 262_144;

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

/** Returns whether a string is a valid slug: a host label of at most 40 characters. */
export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** Derives a slug from a name; a name without usable characters gives `project`. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, "");
  return slug || "project";
}

/** The settings of each source; setting one source replaces the others. */
const SOURCES = [
  ["gitOwner", "gitRepo", "gitAccess", "gitSubmodules"],
  ["gitUrl"],
  ["localPath", "localPathByAdmin"],
] as const;

/**
 * Applies a change to settings; `null` removes. A new source replaces the old one, and unlinking a repository of the git
 * host, also for another one, turns `autoDeploy` and `previews` off unless the change sets them: nothing may report its
 * pushes and pull requests.
 */
export function mergeSettings(settings: ProjectSettings, change: ProjectSettingsChange): ProjectSettings {
  const given = SOURCES.filter((source) => source.some((field) => typeof change[field] === "string"));
  const replaced = given.length > 0 ? SOURCES.filter((source) => !given.includes(source)).flat() : [];
  const kept = Object.entries(settings).filter(([field]) => !(replaced as readonly string[]).includes(field));
  const merged = Object.entries({ ...Object.fromEntries(kept), ...change }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  const { autoDeploy, previews, ...rest } = Object.fromEntries(merged) as ProjectSettings;
  const isSame = settings.gitOwner === rest.gitOwner && settings.gitRepo === rest.gitRepo;
  const unlinked = sourceOf(settings) === "githost" && !isSame;
  const deploys = unlinked && change.autoDeploy !== true ? undefined : autoDeploy;
  const shows = unlinked && !change.previews?.enabled ? undefined : previews;
  return { ...rest, ...(deploys !== undefined && { autoDeploy: deploys }), ...(shows && { previews: shows }) };
}

/** Refuses `gitUrl` together with `localPath`, because a project has one source; either alone replaces the other. */
export function checkSources({ gitUrl, localPath }: ProjectSettingsChange): void {
  if (!gitUrl || !localPath) return;
  throw invalidField("localPath", 'a project has one source, and "gitUrl" is given too. Give one of them');
}

/** Throws for settings that are too large, contradict each other or could reach another program as an option. */
export function checkSettings(settings: ProjectSettings): void {
  const { gitOwner, gitRepo, gitBranch, gitUrl } = settings;
  const bytes = new TextEncoder().encode(JSON.stringify(settings)).length;
  if (bytes > SETTINGS_BYTES) {
    const much = `settings have at most ${SETTINGS_BYTES} bytes, and these have ${bytes}`;
    throw invalid("settings_too_large", `Cannot keep these settings: ${much}. Keep large values in variables or files`);
  }
  if (Boolean(gitOwner) !== Boolean(gitRepo)) {
    throw invalidField(gitOwner ? "gitRepo" : "gitOwner", "owner and repository belong together; give both");
  }
  if (gitOwner !== undefined && !isGitName(gitOwner))
    throw invalidField("gitOwner", "this is not a valid name on a git host");
  if (gitRepo !== undefined && !isGitName(gitRepo))
    throw invalidField("gitRepo", "this is not a valid name on a git host");
  if (gitBranch !== undefined && !isBranchName(gitBranch))
    throw invalidField("gitBranch", "this is not a valid branch name");
  if (gitUrl !== undefined) checkGitUrl(gitUrl);
  for (const field of ["rootDirectory", "outputDirectory", "dockerfile"] as const) {
    const path = settings[field];
    if (path !== undefined && (!isInnerPath(path) || path.startsWith("-")))
      throw invalidField(field, 'give a path inside the project, without ".."');
  }
  if (settings.buildTarget !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(settings.buildTarget)) {
    throw invalidField("buildTarget", "give the name of a stage of the Dockerfile");
  }
  const badArg = Object.keys(settings.buildArgs ?? {}).find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (badArg !== undefined) throw invalidField("buildArgs", "names are letters, digits and underscores");
  if (settings.healthPath !== undefined && !isHealthPath(settings.healthPath)) {
    throw invalidField("healthPath", 'give a path that begins with one "/"');
  }
  const names = settings.services?.map(({ name }) => name) ?? [];
  const repeated = names.findIndex((name, index) => names.indexOf(name) < index);
  if (repeated >= 0) throw invalidField(`services.${repeated}.name`, "another service has this name");
  const badPath = settings.hostPaths?.findIndex((path) => !isHostPath(path)) ?? -1;
  if (badPath >= 0)
    throw invalidField(`hostPaths.${badPath}`, 'give an absolute path without "..", or the name of a volume');
  if (settings.autoDeploy && sourceOf(settings) !== "githost") {
    throw invalidField("autoDeploy", "link a repository of the git host first");
  }
  if (settings.previews) checkPreviews(settings.previews);
  if (settings.previews?.enabled && sourceOf(settings) !== "githost") {
    throw invalidField("previews", "link a repository of the git host first");
  }
}

/** Returns whether a string can be an owner or repository name on a git host. */
export function isGitName(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(text) && !text.includes("..");
}

/** Returns whether git accepts a string as a branch name; excludes options and refspec tricks. */
export function isBranchName(text: string): boolean {
  if (text.length === 0 || text.length > 244 || text.startsWith("-") || text.startsWith("/") || text.endsWith("/"))
    return false;
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$/.test(text) || text === "@" || text === "HEAD") return false;
  return text.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

function isHealthPath(text: string): boolean {
  // "//host" and "/\host" would lead to another host.
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(text);
}

/** Throws for a URL that is not a git URL that Slipway would clone from. */
export function checkGitUrl(gitUrl: string): void {
  if (isGitUrl(gitUrl)) return;
  throw invalidField("gitUrl", "give an https:// or ssh:// address (or user@host:path) without a password in it");
}

/** Returns whether a string is a git URL that Slipway would clone from. */
export function isGitUrl(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (text.length > 2_000 || /[\x00-\x20\x7f]/.test(text)) return false;
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^-:][^:]*$/.test(text)) return true;
  // Git parses "https:host", a backslash and an escaped "-" differently from `URL`.
  if (!/^(?:https|ssh):\/\/[^/?#%\\]+(?:[/?#][^\\]*)?$/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.hostname === "" || url.hostname.startsWith("-") || url.username.startsWith("-")) return false;
  if (url.protocol === "https:") return url.username === "" && url.password === "";
  return url.protocol === "ssh:" && url.password === "";
}

/** Returns whether a relative path stays inside its base folder. */
export function isInnerPath(path: string): boolean {
  return path.length <= 1_000 && !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes("..");
}
