import { type ErrorPage, NO_ANSWER, NO_RELEASE, NO_SUCH_APP, STARTING, TOO_SLOW, WRONG_METHOD } from "../error_page.ts";
import { type OwnResponse, pageResponse } from "../own_response.ts";
import type { CaddyHandler, CaddyMatch, CaddyRoute } from "./caddy_config.ts";

/** The variable of a request that names the page to answer it with. */
const PAGE = "slipway_page";
/** The variable of a request for a static site, which the server itself serves. */
const FILES = "slipway_files";
const HTML = "(?i)text/html|application/xhtml\\+xml";
const JSON_FIRST = "(?i)[/+]json.*(?:text/html|application/xhtml\\+xml)";

/** Lets a request be answered with a page by the last routes of its server. */
export function showPage({ code }: ErrorPage): CaddyHandler {
  return { handler: "vars", [PAGE]: code };
}

/** Notes that a request is for a static site. */
export function markFiles(): CaddyHandler {
  return { handler: "vars", [FILES]: "yes" };
}

/** The last routes of a server: they answer all requests that have come that far. */
export function pageRoutes(): readonly CaddyRoute[] {
  const chosen = [NO_RELEASE, STARTING, WRONG_METHOD].flatMap((page) =>
    routesOf(page, { vars: { [PAGE]: [page.code] } }),
  );
  return [...chosen, ...routesOf(NO_SUCH_APP)];
}

/** The routes for requests that could not be proxied. */
export function errorRoutes(): readonly CaddyRoute[] {
  // Without the server, apps are still served, but static sites are not: they are asked to be tried again.
  const routes = [...routesOf(STARTING, { vars: { [FILES]: ["yes"] } }), ...routesOf(NO_ANSWER)];
  return [
    { match: [failedWith(502)], handle: [{ handler: "subroute", routes }] },
    ...routesOf(TOO_SLOW, failedWith(504)),
  ];
}

/** Lets Caddy itself give a response of the edge. */
export function ownHandler({ status, lines, text }: OwnResponse): CaddyHandler {
  const fields = lines.split("\r\n").filter((line) => line !== "");
  const headers = fields.map(
    (line) => [line.slice(0, line.indexOf(":")), [line.slice(line.indexOf(":") + 2)]] as const,
  );
  return {
    handler: "static_response",
    status_code: status,
    headers: Object.fromEntries(headers),
    ...(text !== "" && { body: literal(text) }),
  };
}

/** A text in which Caddy replaces nothing. */
export function literal(text: string): string {
  return text.replaceAll("{", "\\{");
}

function failedWith(status: number): CaddyMatch {
  return { vars: { "{http.error.status_code}": [`${status}`] } };
}

/** Routes that answer with a page: with HTML those who prefer it, with JSON all others. */
function routesOf(page: ErrorPage, match: CaddyMatch = {}): readonly CaddyRoute[] {
  return [
    {
      match: [{ ...match, ...accepts(HTML), not: [accepts(JSON_FIRST)] }],
      handle: [ownHandler(pageResponse(page, "text/html"))],
    },
    { ...(Object.keys(match).length > 0 && { match: [match] }), handle: [ownHandler(pageResponse(page, undefined))] },
  ];
}

function accepts(pattern: string): CaddyMatch {
  return { header_regexp: { Accept: { pattern } } };
}
