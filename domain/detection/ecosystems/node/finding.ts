import { type Finding, warned } from "../../ecosystem.ts";
import { memberOf } from "../../text/json_text.ts";
import { nodeImage } from "./image.ts";
import type { NodePackage } from "./package.ts";
import { bunVersion, nodeVersion } from "./versions.ts";

/** What the image and the runtime version of a finding depend on. */
export interface NodeRuntimeFacts {
  /** Whether it is of a framework with its own programs. */
  readonly isSite: boolean;
  /** The folder that contains everything needed at run time, if that is not the whole project. */
  readonly alone?: string | undefined;
}

/** Adds the runtime version and the image to a finding. */
export function nodeFinding(project: NodePackage, found: Finding, { isSite, alone }: NodeRuntimeFacts): Finding {
  const { folder, manifest, workspace, manager } = project;
  const manifests = [manifest, ...(workspace === undefined ? [] : [workspace.manifest])];
  // The programs of frameworks are made for Node, whichever package manager installs them.
  const name = !isSite && runsOnBun(project, found) ? "bun" : "node";
  const { version, warnings } = name === "bun" ? bunVersion(folder, manifests) : nodeVersion(folder, manifests);
  // Creates an image without a start command too, as the user may set one.
  const isServedAsItIs = found.projectType === "static" && (manager.install ?? found.buildCommand ?? null) === null;
  const image = isServedAsItIs ? null : nodeImage({ project, found, runtime: { name, version }, alone });
  return warned({ ...found, languageVersion: version, image }, ...warnings);
}

function runsOnBun({ manifest, manager }: NodePackage, { startCommand }: Finding): boolean {
  if (manager.name !== "bun") return false;
  const scripts = Object.values(memberOf(manifest, "scripts") ?? {}).filter((text) => typeof text === "string");
  const texts = [startCommand ?? "", ...scripts];
  return !texts.some((text) => /(?:^|[\s&])(?:node|npx|npm)\s/.test(text.slice(0, 2_000)));
}
