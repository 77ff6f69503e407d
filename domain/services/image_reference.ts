const HOST = "(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?/)?";
const NAME = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const TAG = "(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?";
const DIGEST = "(?:@sha256:[0-9a-f]{64})?";
const REFERENCE = new RegExp(`^${HOST}${NAME}(?:/${NAME})*${TAG}${DIGEST}$`);

/** Tells whether a text names an image as registries do: `postgres:18`, `ghcr.io/acme/shop@sha256:…`. */
export function isImageReference(text: string): boolean {
  return text.length <= 500 && REFERENCE.test(text);
}
