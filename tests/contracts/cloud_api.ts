import { describe, expect, test } from "bun:test";
import { readActingMember } from "../../domain/cloud/acting_member.ts";
import { Secret } from "../../domain/secret.ts";
import type { CloudApi, CloudRequest } from "../../ports/cloud/cloud_api.ts";
import { eventually } from "../support/eventually.ts";

/** An adapter with a cloud that answers by a function. */
export interface CloudStage extends AsyncDisposable {
  readonly adapter: CloudApi;
  readonly url: string;
  /** An address at which no cloud answers. */
  readonly silentUrl: string;
}

const token = new Secret("slp_cloud_canary");

function actingMemberOf(request: Request): Response {
  return new Response(request.headers.get("slipway-acting-member") ?? "none");
}

/** Answers with the headers of the request, and with some that must not be passed on. */
function headersOf(request: Request): Response {
  const headers = {
    "set-cookie": "session=canary",
    "www-authenticate": "canary",
    "clear-site-data": "canary",
    "access-control-allow-origin": "canary",
    etag: "kept",
  };
  return new Response(JSON.stringify([...request.headers]), { headers });
}

/** What every adapter of the cloud's API has to do. */
export function cloudApiContract(
  name: string,
  open: (respond: (request: Request) => Response | Promise<Response>) => Promise<CloudStage>,
) {
  async function asked(
    respond: (request: Request) => Response | Promise<Response>,
    request: Partial<CloudRequest> = {},
  ): Promise<{ readonly response: Response; readonly text: string }> {
    await using stage = await open(respond);
    const signal = new AbortController().signal;
    const whole = { method: "GET", path: "/api/health", signal, ...request };
    const response = await stage.adapter.send({ url: stage.url, token }, whole);
    return { response, text: await response.text() };
  }

  describe(`CloudApi contract: ${name}`, () => {
    test("send() passes method, path, query, body and descriptive headers on, with the token of the link", async () => {
      const seen: Record<string, unknown> = {};
      const headers = new Headers({ "content-type": "application/json", "x-request-id": "request-1", accept: "a/b" });
      const respond = async (request: Request) => {
        const { pathname, search } = new URL(request.url);
        const named = ["authorization", "content-type", "x-request-id", "accept"].map((each) =>
          request.headers.get(each),
        );
        Object.assign(seen, { method: request.method, place: pathname + search, named, body: await request.text() });
        return new Response("done", { status: 202, headers: { "retry-after": "7" } });
      };
      const path = "/api/deployments/dep_1/logs?since=3&x=%2F";
      const { response, text } = await asked(respond, { method: "POST", path, headers, body: '{"a":1}' });
      expect(seen).toEqual({
        method: "POST",
        place: path,
        named: ["Bearer slp_cloud_canary", "application/json", "request-1", "a/b"],
        body: '{"a":1}',
      });
      expect([response.status, response.headers.get("retry-after"), text]).toEqual([202, "7", "done"]);
    });

    test("send() names the acting member, whatever the request says itself", async () => {
      const headers = new Headers({ "slipway-acting-member": "forged" });
      const actingMember = {
        id: "usr_1",
        email: "ann@example.com",
        permissions: [],
        grants: [{ resource: "project", id: "prj_1", action: "read" }],
      } as const;
      expect(readActingMember((await asked(actingMemberOf, { headers, actingMember })).text)).toEqual(actingMember);
      expect((await asked(actingMemberOf, { headers })).text).toBe("none");
    });

    test("send() keeps credentials, cookies and facts about the connection of either side back", async () => {
      const own = {
        authorization: "Bearer canary",
        cookie: "slipway_session=canary",
        origin: "https://canary.example.com",
        referer: "https://canary.example.com/",
        "x-forwarded-for": "canary",
        "x-organization-id": "canary",
        "proxy-authorization": "canary",
      };
      const { response, text } = await asked(headersOf, { headers: new Headers(own) });
      expect(text).not.toContain("canary.example");
      expect(text.replaceAll("slp_cloud_canary", "")).not.toContain("canary");
      expect(JSON.stringify([...response.headers])).not.toContain("canary");
      expect(response.headers.get("etag")).toBe("kept");
    });

    test.each([400, 401, 403, 404, 409, 429, 500, 503])(
      "send() resolves to a response with status %d",
      async (status) => {
        const { response, text } = await asked(() => Response.json({ success: false }, { status }));
        expect([response.status, text]).toEqual([status, '{"success":false}']);
      },
    );

    test("send() follows no redirect", async () => {
      const pending = asked(() => Response.redirect("https://elsewhere.example.com/", 307));
      await expect(pending).rejects.toMatchObject({ code: "cloud_unreadable" });
    });

    test("send() rejects when no cloud answers", async () => {
      await using stage = await open(() => new Response());
      const { signal } = new AbortController();
      const pending = stage.adapter.send({ url: stage.silentUrl, token }, { method: "GET", path: "/", signal });
      await expect(pending).rejects.toMatchObject({ kind: "unavailable", code: "cloud_away" });
    });

    test("send() streams a response, and ends the request at the cloud when its reader leaves", async () => {
      let isEnded = false;
      let more: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = () =>
        new ReadableStream<Uint8Array>({
          start: (controller) => void (more = controller),
          cancel: () => void (isEnded = true),
        });
      await using stage = await open(() => new Response(body(), { headers: { "content-type": "text/event-stream" } }));
      const request = { method: "GET", path: "/", signal: new AbortController().signal };
      const answering = stage.adapter.send({ url: stage.url, token }, request);
      await eventually(
        async () => more,
        (controller) => controller !== undefined,
      );
      more!.enqueue(new TextEncoder().encode("one"));
      const reader = (await answering).body!.getReader();
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("one");
      more!.enqueue(new TextEncoder().encode("two"));
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("two");
      await reader.cancel();
      await eventually(
        async () => isEnded,
        (ended) => ended,
      );
    });

    test("send() rejects with the reason of its signal", async () => {
      const left = new AbortController();
      const waiting = Promise.withResolvers<void>();
      await using stage = await open(() => {
        waiting.resolve();
        return new Promise<never>(() => {});
      });
      const request = { method: "GET", path: "/", signal: left.signal };
      const pending = stage.adapter.send({ url: stage.url, token }, request);
      await waiting.promise;
      left.abort(new Error("The client left"));
      await expect(pending).rejects.toThrow("The client left");
    });
  });
}
