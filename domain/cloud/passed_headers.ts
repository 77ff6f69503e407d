/** Headers that belong to one connection, or to the credentials and addresses of one side. They are never passed on. */
const OWN = new Set([
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "forwarded",
  "host",
  "keep-alive",
  "origin",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "referer",
  "set-cookie",
  "slipway-acting-member",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "www-authenticate",
  "x-organization-id",
  "x-real-ip",
]);

/** Returns the headers of a message that another server may see: no credentials, nothing about the connection. */
export function passedHeaders(headers: Headers): Headers {
  const named = (headers.get("connection") ?? "").split(",").map((name) => name.trim().toLowerCase());
  const passed = new Headers();
  for (const [name, value] of headers) {
    const isOwn = OWN.has(name) || named.includes(name) || name.startsWith("x-forwarded-") || name.startsWith("sec-");
    if (!isOwn) passed.append(name, value);
  }
  return passed;
}
