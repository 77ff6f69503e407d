/** Writes an image reference in full: with its registry, and the tag `latest` if it has none. */
export function fullReference(reference: string): string {
  const [name = "", digest] = reference.split("@");
  const lastPart = name.slice(name.lastIndexOf("/") + 1);
  const tagged = digest !== undefined || lastPart.includes(":") ? name : `${name}:latest`;
  const [first = "", ...rest] = tagged.split("/");
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  const path = hasRegistry ? tagged : `docker.io/${rest.length === 0 ? `library/${tagged}` : tagged}`;
  const plain = path.replace(/^index\.docker\.io\//, "docker.io/");
  return digest === undefined ? plain : `${plain}@${digest}`;
}

/** Returns whether a reference names an image by its id, not by a name. */
export function isImageId(reference: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{12,64}$/.test(reference);
}
