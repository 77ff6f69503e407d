/** An error page for requests that no app responds to. */
export interface ErrorPage {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly sentence: string;
  readonly retryAfter?: number;
}

export const NO_SUCH_APP: ErrorPage = {
  status: 404,
  code: "no_such_app",
  title: "There is nothing here",
  sentence: "No app is deployed at this address. Check the address, or deploy an app to it.",
};

export const NO_RELEASE: ErrorPage = {
  status: 503,
  code: "no_release",
  title: "Not deployed yet",
  sentence: "This app has no release yet. Try again once its first deployment is ready.",
  retryAfter: 10,
};

export const STARTING: ErrorPage = {
  status: 503,
  code: "starting",
  title: "Starting",
  sentence: "The server is starting and will serve its apps in a moment. Try again.",
  retryAfter: 1,
};

export const NO_ANSWER: ErrorPage = {
  status: 502,
  code: "app_unreachable",
  title: "The app does not answer",
  sentence: "The app at this address does not answer. Its logs say why; try again in a moment.",
};

export const TOO_SLOW: ErrorPage = {
  status: 504,
  code: "app_too_slow",
  title: "The app takes too long",
  sentence: "The app at this address did not begin to answer in time. Try again in a moment.",
};

export const NOT_FOUND: ErrorPage = {
  status: 404,
  code: "not_found",
  title: "Page not found",
  sentence: "This site has no such page. Check the address.",
};

export const WRONG_METHOD: ErrorPage = {
  status: 405,
  code: "method_not_allowed",
  title: "Read-only",
  sentence: "This site is made of files, which can only be read with GET or HEAD.",
};

export const BROKEN_FILE: ErrorPage = {
  status: 500,
  code: "file_unreadable",
  title: "The page cannot be read",
  sentence: "A file of this site cannot be read. Deploy the site again.",
};

/** The error page of a request that cannot be forwarded. */
export function badRequest(status: number, why: string): ErrorPage {
  return { status, code: "bad_request", title: "Bad request", sentence: `Cannot forward the request: ${why}.` };
}

/** Renders a page: HTML for clients that prefer it, JSON for all others. */
export function renderPage(
  page: ErrorPage,
  accept: string | undefined,
): { readonly type: string; readonly text: string } {
  if (!prefersHtml(accept ?? "")) {
    const text = JSON.stringify({ success: false, error: page.sentence, code: page.code });
    return { type: "application/json", text };
  }
  const text = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${page.status} ${page.title}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem;color-scheme:light dark}small{opacity:.6}</style>
<h1>${page.title}</h1><p>${page.sentence}</p><p><small>${page.status} ${page.code}</small></p></html>
`;
  return { type: "text/html; charset=utf-8", text };
}

function prefersHtml(accept: string): boolean {
  const html = accept.search(/text\/html|application\/xhtml\+xml/i);
  const json = accept.search(/[/+]json/i);
  return html >= 0 && (json < 0 || html < json);
}
