/**
 * Builds an HTML response with a strict Content-Security-Policy: only its own inline style and script, and requests to
 * its own origin.
 */
export function page(html: string, inline: { readonly style: string; readonly script?: string }): Response {
  const script =
    inline.script === undefined ? "" : `; script-src 'sha256-${digest(inline.script)}'; connect-src 'self'`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; style-src 'sha256-${digest(inline.style)}'${script}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
    },
  });
}

/** Escapes text for HTML. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function digest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64");
}
