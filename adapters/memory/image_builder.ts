import { Failure, invalid } from "../../domain/failure.ts";
import type { BuiltImage, ImageBuilder, ImageBuildInput, ImageRequest } from "../../ports/deployments/image_builder.ts";
import { type MemoryNode, MemoryTree } from "./memory_tree.ts";
import type { MemoryReleaseFolders } from "./release_folders.ts";
import type { MemoryReleaseImages } from "./release_images.ts";
import { aborted } from "../shared/deadline.ts";

/** The behavior of a Dockerfile in a `MemoryImageBuilder`. */
export interface ImageScript {
  readonly prints?: readonly string[];
  /** The port that the image exposes. Defaults to none. */
  readonly port?: number;
  /** The step that fails. */
  readonly fails?: { readonly step: string; readonly exitCode: number };
  /** A base image that is missing and cannot be pulled. */
  readonly lacks?: string;
  /** Runs until it is aborted. */
  readonly hangs?: boolean;
  /** The files in the image, by absolute path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly effect?: (request: ImageRequest) => void | Promise<void>;
}

/** Builds simulated images that only have a digest. A Dockerfile without a script succeeds and prints nothing. */
export class MemoryImageBuilder implements ImageBuilder {
  /** Scripts by the path of the Dockerfile, or by its text when it was generated. May be changed at any time. */
  readonly scripts: Map<string, ImageScript>;
  /** Scripts by service, which take precedence over `scripts`. May be changed at any time. */
  readonly services = new Map<string, ImageScript>();
  /** The script of all other builds. */
  otherwise: ImageScript = {};
  /** Every request so far. */
  readonly requests: ImageRequest[] = [];
  mounts = true;
  /** Whether the engine is available. */
  answers = true;
  readonly #images: MemoryReleaseImages;
  readonly #folders: Pick<MemoryReleaseFolders, "tree"> | undefined;

  /** Reads files from `folders`. Without it, all folders are empty. */
  constructor(
    images: MemoryReleaseImages,
    scripts: Readonly<Record<string, ImageScript>> = {},
    folders?: Pick<MemoryReleaseFolders, "tree">,
  ) {
    this.#images = images;
    this.scripts = new Map(Object.entries(scripts));
    this.#folders = folders;
  }

  async features(): Promise<{ readonly mounts: boolean }> {
    this.#mustAnswer();
    return { mounts: this.mounts };
  }

  async build(request: ImageRequest): Promise<BuiltImage> {
    const { dockerfile, service, signal } = request;
    this.requests.push(request);
    signal.throwIfAborted();
    if ("path" in dockerfile) mustBeInside(dockerfile.path);
    this.#mustAnswer();
    const known = this.scripts.get("path" in dockerfile ? dockerfile.path : dockerfile.text);
    const script = this.services.get(service) ?? known ?? this.otherwise;
    for (const line of script.prints ?? []) await request.log(line, "stdout");
    await script.effect?.(request);
    if (script.hangs) await aborted(signal);
    signal.throwIfAborted();
    if (script.lacks !== undefined) {
      const why = `the image ${script.lacks} is not on this machine and cannot be pulled`;
      throw invalid("base_image_missing", `Cannot build: ${why}. Pull it, or map it in BASE_IMAGES`);
    }
    if (script.fails) {
      const { step, exitCode } = script.fails;
      throw invalid("build_failed", `Cannot build: step ${step} ended with code ${exitCode}`);
    }
    await request.confirm?.();
    const image = `sha256:${Array.from(crypto.getRandomValues(new Uint8Array(32)), hex).join("")}`;
    this.#images.put(image, request);
    this.#images.files.set(image, new Map(Object.entries(script.files ?? {})));
    return { image, port: script.port ?? null };
  }

  async identify({ folder, dockerfile, target, args }: ImageBuildInput): Promise<string> {
    if ("path" in dockerfile) mustBeInside(dockerfile.path);
    const tree = this.#folders?.tree(folder) ?? new MemoryTree();
    const text = "text" in dockerfile ? dockerfile.text : textOf(tree.at(dockerfile.path));
    if (text === undefined)
      throw invalid("build_failed", "Cannot build: there is no such file; set dockerfile to its path");
    const ignored = textOf(tree.at(".dockerignore"))?.split("\n") ?? [];
    const without = "text" in dockerfile ? (dockerfile.without ?? []) : [];
    const given = tree.nodes().filter(([path]) => {
      const parts = path.split("/");
      const places = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
      return !places.some((place) => ignored.includes(place)) && !parts.some((part) => without.includes(part));
    });
    for (const [path, node] of given) mustLeadInside(path, node);
    const sorted = [...args].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const all = JSON.stringify([text, target ?? null, sorted, given]);
    return `sha256:${new Bun.CryptoHasher("sha256").update(all).digest("hex")}`;
  }

  #mustAnswer(): void {
    if (!this.answers) throw new Failure("unavailable", "engine_away", "Cannot use Docker: nothing answers there");
  }
}

function textOf(node: MemoryNode | undefined): string | undefined {
  return node?.kind === "file" ? node.content : undefined;
}

function mustBeInside(path: string): void {
  if (path.startsWith("/") || path.split("/").includes("..")) {
    throw invalid("link_outside", "Cannot build: the Dockerfile leads out of the folder");
  }
}

/**
 * Throws for a symlink that is absolute or starts with `..`. Simplified: also rejects links that stay in the folder
 * that way.
 */
function mustLeadInside(path: string, node: MemoryNode): void {
  const leadsOut = node.kind === "link" && (node.target.startsWith("/") || node.target.startsWith(".."));
  if (leadsOut) throw invalid("link_outside", `Cannot build: the link ${path} leads out of the folder`);
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
