import { EmulatedHostState } from "../tests/support/peers/git_host/emulated_host_state.ts";
import { repositoryShape } from "../tests/support/peers/git_host/host_shapes.ts";

// A git host with one list of repositories, as quick as can be: its pages are made beforehand. Prints its address.

const PER_PAGE = 100;
const repositories = Number(process.argv[2]);
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
const origin = `http://127.0.0.1:${server.port}`;
const pages = makePages();

function makePages(): { readonly body: string; readonly headers: Record<string, string> }[] {
  const state = new EmulatedHostState(origin);
  state.addAccount("big");
  for (let index = 0; index < repositories; index++) state.addRepository({ owner: "big", name: `repository-${index}` });
  const shapes = [...state.repositories.values()].map((each) => repositoryShape(state, each, origin));
  const last = Math.max(Math.ceil(shapes.length / PER_PAGE), 1);
  const link = (page: number, rel: string) => `<${origin}/user/repos?per_page=${PER_PAGE}&page=${page}>; rel="${rel}"`;
  return Array.from({ length: last + 1 }, (_, index) => {
    const body = JSON.stringify(shapes.slice(index * PER_PAGE, (index + 1) * PER_PAGE));
    const links = index + 1 < last ? [link(index + 2, "next"), link(last, "last")] : [link(1, "first")];
    const etag = `W/"${Bun.hash(body).toString(16)}"`;
    const headers = { "content-type": "application/json; charset=utf-8", etag, link: links.join(", ") };
    return { body, headers };
  });
}

function answer(request: Request): Response {
  const page = pages[Number(new URL(request.url).searchParams.get("page") ?? 1) - 1];
  if (!page) return new Response("[]", { headers: { "content-type": "application/json" } });
  if (request.headers.get("if-none-match") === page.headers["etag"])
    return new Response(null, { status: 304, headers: { etag: page.headers["etag"]! } });
  return new Response(page.body, { headers: page.headers });
}

console.log(origin);
