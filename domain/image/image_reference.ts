import { isImageName } from "./base_images.ts";

/** A parsed image reference such as `postgres:16`. */
export interface ImageReference {
  /** Host and port of the registry; `null` for an image that is only named by its id. */
  readonly registry: string | null;
  /** The engine's name for it, without tag and digest: `postgres`, `registry.example.com/shop`; empty for an id. */
  readonly name: string;
  /** `null` if a digest identifies the image exactly. */
  readonly tag: string | null;
  /** The digest in the registry, or the id itself. */
  readonly digest: string | null;
  /** The complete reference, in a form that an engine cannot confuse with anything else. */
  readonly full: string;
}

const HUB = "docker.io";
const ID = /^sha256:[0-9a-f]{64}$/;
/** Names that an engine treats as an id, or as the start of one. */
const TAKEN = /^(?:sha256|[0-9a-f]{64})$/;
const SUFFIX = /(?::([^:/@]+))?(?:@(.+))?$/;

/** Parses a reference; `undefined` if invalid. The tag defaults to `latest` and is ignored if there is a digest. */
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
