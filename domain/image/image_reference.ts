import { isImageName } from "./base_images.ts";

/** What a text such as `postgres:16` names. */
export interface ImageReference {
  /** The host of its registry with its port; `null` for an image that is named by its id alone. */
  readonly registry: string | null;
  /** The name as an engine shows it, without tag and digest: `postgres`, `registry.example.com/shop`; that of an id is empty. */
  readonly name: string;
  /** `null` where a digest says exactly which one it is. */
  readonly tag: string | null;
  /** That of the registry, or the id itself. */
  readonly digest: string | null;
  /** All of it, in the one way that an engine takes for nothing else. */
  readonly full: string;
}

const HUB = "docker.io";
const ID = /^sha256:[0-9a-f]{64}$/;
/** Names that an engine takes for an id, or for the beginning of one. */
const TAKEN = /^(?:sha256|[0-9a-f]{64})$/;
const SUFFIX = /(?::([^:/@]+))?(?:@(.+))?$/;

/** Reads a reference as people write it; without a tag `latest` counts, with a digest no tag does. `undefined` for what is none. */
export function imageReference(text: string): ImageReference | undefined {
  if (ID.test(text)) return { registry: null, name: "", tag: null, digest: text, full: text };
  if (!isImageName(text)) return undefined;
  const [suffix, tag = "latest", digest = null] = SUFFIX.exec(text)!;
  const { registry, name } = withRegistry(text.slice(0, text.length - suffix.length));
  if (TAKEN.test(name)) return undefined;
  if (digest !== null) return { registry, name, tag: null, digest, full: `${name}@${digest}` };
  return { registry, name, tag, digest, full: `${name}:${tag}` };
}

function withRegistry(name: string): { readonly registry: string; readonly name: string } {
  const first = name.slice(0, Math.max(0, name.indexOf("/")));
  const rest = name.slice(first.length + 1);
  const isHub = first === HUB || first === `index.${HUB}`;
  if (!isHub && (/[.:]/.test(first) || first === "localhost")) return { registry: first, name };
  return { registry: HUB, name: (isHub ? rest : name).replace(/^library\/(?=[^/]+$)/, "") };
}
