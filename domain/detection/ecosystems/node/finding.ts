import { type Finding, warned } from "../../ecosystem.ts";
import { memberOf } from "../../text/json_text.ts";
import { nodeImage } from "./image.ts";
import type { NodePackage } from "./package.ts";
import { bunVersion, nodeVersion } from "./versions.ts";

/** What the image and the versions of a finding depend on. */
export interface NodeRuntimeFacts {
  /** Whether it is of a framework with programs of its own. */
  readonly isSite: boolean;
  /** The folder that holds all that is needed at run time, when that is not the whole project. */
  readonly alone?: string | undefined;
}

/** The finding with the version of what runs it, and its image. */
export function nodeFinding(project: NodePackage, found: Finding, { isSite, alone }: NodeRuntimeFacts): Finding {
  const { folder, manifest, workspace, manager } = project;
  const manifests = [manifest, ...(workspace === undefined ? [] : [workspace.manifest])];
  // Such programs are made for Node, whatever installs them.
  const name = !isSite && runsOnBun(project, found) ? "bun" : "node";
  const { version, warnings } = name === "bun" ? bunVersion(folder, manifests) : nodeVersion(folder, manifests);
  // Without a start command too: a person may set one.
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
