import { describe, expect, test } from "bun:test";
import { HttpCloudGitHost } from "../../../adapters/cloud/cloud_git_host.ts";
import { MemoryCloudGitHost } from "../../../adapters/memory/cloud_git_host.ts";
import { Secret } from "../../../domain/secret.ts";
import { cloudGitHostContract } from "../../contracts/cloud_git_host.ts";

const ANSWER = "https://git.example.com/apps/slipway/installations/new?state=x";
const token = new Secret("slp_cloud_canary");

/** A cloud that answers requests to connect. */
function cloud(respond: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: respond });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}

cloudGitHostContract("memory", async () => {
  const adapter = new MemoryCloudGitHost();
  adapter.urls.set("https://cloud.example.com", ANSWER);
  return { adapter, url: "https://cloud.example.com", silentUrl: "https://away.example.com", token, answer: ANSWER };
});

cloudGitHostContract("HTTP", async () => {
  const running = cloud((request) => {
    const isAllowed = request.headers.get("authorization") === `Bearer ${token.reveal()}`;
    const isConnect = request.method === "POST" && new URL(request.url).pathname === "/api/githost/connect";
    return isAllowed && isConnect
      ? Response.json({ connected: false, flow: "redirect", url: ANSWER })
      : Response.json({ success: false }, { status: 401 });
  });
  return { adapter: new HttpCloudGitHost(), silentUrl: "http://127.0.0.1:1", token, answer: ANSWER, ...running };
});

describe("HttpCloudGitHost", () => {
  test.each([
    ["HTML", () => new Response("<h1>Hi</h1>", { headers: { "content-type": "text/html" } })],
    ["an error", () => Response.json({ success: false, error: "x" }, { status: 500 })],
    ["no address", () => Response.json({ connected: true })],
    ["an address that a browser must not open", () => Response.json({ url: "javascript:alert(1)" })],
    ["a redirect to another host", () => Response.redirect("http://127.0.0.1:1/", 307)],
  ])("takes a cloud that answers with %s for unreachable", async (_, respond) => {
    await using running = cloud(respond);
    const pending = new HttpCloudGitHost().connectUrl({ url: running.url, token }, new AbortController().signal);
    await expect(pending).rejects.toMatchObject({ code: "cloud_unreachable" });
  });
});
