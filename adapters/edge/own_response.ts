import { type ErrorPage, renderPage } from "./error_page.ts";

/** A response of the edge itself, instead of an app's. */
export interface OwnResponse {
  readonly status: number;
  /** Its header lines, each with its line end, except those about the length and the connection. */
  readonly lines: string;
  readonly text: string;
}

/** Returns an error page as the client prefers it. */
export function pageResponse(page: ErrorPage, accept: string | undefined): OwnResponse {
  const { type, text } = renderPage(page, accept);
  const lines =
    `Content-Type: ${type}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n` +
    (page.retryAfter === undefined ? "" : `Retry-After: ${page.retryAfter}\r\n`) +
    (page.status === 405 ? "Allow: GET, HEAD\r\n" : "");
  return { status: page.status, lines, text };
}

/** Returns a plain text. */
export function textResponse(text: string): OwnResponse {
  const lines = "Content-Type: text/plain\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  return { status: 200, lines, text };
}

/** Returns a redirect that keeps the method and the body. Browsers do not store it: a certificate may be removed again. */
export function redirectResponse(location: string): OwnResponse {
  return { status: 308, lines: `Location: ${location}\r\nCache-Control: no-store\r\n`, text: "" };
}
