import { describe, expect, test } from "bun:test";
import { type Call, member, memoryApp, type TestApp } from "../support/apps/app.ts";
import { failing } from "../support/faults/failing.ts";
import { eventually } from "../support/eventually.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { file, streamOf, tarGz } from "../support/inputs/tar_archive.ts";

const DAY = 24 * 3_600_000;
const KEY = { "idempotency-key": "order-66" };

function create({ call, owner }: TestApp, options: Call & { name?: string } = {}) {
  const { name = "Harbour", ...rest } = options;
  return call("POST", "/api/projects", { token: owner, headers: KEY, body: { name }, ...rest });
}

async function total({ call, owner }: TestApp): Promise<number> {
  return (await call("GET", "/api/projects", { token: owner })).body.total;
}

describe("a repeated key", () => {
  test("replays the first response with its status and changes nothing again", async () => {
    const app = await memoryApp();
    const first = await create(app);
    expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([201, null]);
    const second = await create(app);
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.headers.get("content-type")).toStartWith("application/json");
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(await total(app)).toBe(1);
    const audit = await app.call("GET", "/api/audit?action=project.create", { token: app.owner });
    expect(audit.body.total).toBe(1);
  });

  test("replays refusals too, even when they would no longer apply", async () => {
    const app = await memoryApp();
    const { id } = (await create(app, { headers: {} })).body.data;
    expect((await create(app)).status).toBe(409);
    await app.call("DELETE", `/api/projects/${id}`, { token: app.owner });
    expect((await create(app)).body.code).toBe("slug_taken");
    expect((await create(app, { headers: {} })).status).toBe(201);
  });

  test("with another body answers 409", async () => {
    const app = await memoryApp();
    await create(app);
    for (const call of [{ name: "Other" }, { body: undefined }, { raw: '{"name": "Harbour"}' }]) {
      const headers = { ...KEY, "content-type": "application/json" };
      const answer = await create(app, { ...call, headers, ...("raw" in call && { body: undefined }) });
      expect([answer.status, answer.body.code]).toEqual([409, "idempotency_key_reused"]);
    }
    expect(await total(app)).toBe(1);
  });

  test("counts per route: the same key is independent elsewhere", async () => {
    const app = await memoryApp();
    const { id } = (await create(app)).body.data;
    const call = { token: app.owner, headers: KEY, body: { name: "Harbour" } };
    expect((await app.call("PATCH", `/api/projects/${id}`, call)).headers.get("idempotency-replayed")).toBeNull();
    expect((await app.call("POST", "/api/tokens", call)).status).toBe(201);
  });

  test("is ignored by a read", async () => {
    const app = await memoryApp();
    const read = () => app.call("GET", "/api/projects", { token: app.owner, headers: KEY });
    expect((await read()).body.total).toBe(0);
    await create(app);
    expect((await read()).body.total).toBe(1);
  });

  test("expires after a day", async () => {
    const app = await memoryApp();
    await create(app);
    app.world.clock.advance(DAY);
    expect((await create(app)).status).toBe(201);
    app.world.clock.advance(1);
    expect((await create(app)).status).toBe(409);
  });

  test.each(["", "a b", "ümlaut", "x".repeat(256)])(
    "must be visible ASCII of at most 255: %p is refused",
    async (key) => {
      const app = await memoryApp();
      const answer = await create(app, { headers: { "idempotency-key": key } });
      expect([answer.status, answer.body.details[0].path]).toEqual([400, "Idempotency-Key"]);
      expect(await total(app)).toBe(0);
    },
  );
});

describe("what a replay blanks", () => {
  test("a token's text, which is not stored with the response either", async () => {
    const stored: unknown[] = [];
    const app = await memoryApp({}, ({ idempotentAnswers }) => ({
      idempotentAnswers: intercepted(idempotentAnswers, "keep", (goOn, given) => {
        stored.push(given);
        return goOn();
      }),
    }));
    const mint = () => app.call("POST", "/api/tokens", { token: app.owner, headers: KEY, body: { name: "ci" } });
    const first = (await mint()).body.data;
    const second = await mint();
    expect(second.body.data).toEqual({ ...first, token: null });
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(first.token);
  });

  test("an invitation's token and link", async () => {
    const app = await memoryApp();
    const body = { email: "new@example.com", role: "viewer" };
    const invite = () => app.call("POST", "/api/members", { token: app.owner, headers: KEY, body });
    const first = (await invite()).body.data;
    expect((await invite()).body.data).toEqual({ ...first, token: null, link: null });
    expect((await app.call("GET", "/api/members/invitations", { token: app.owner })).body.total).toBe(1);
  });
});

describe("concurrent requests", () => {
  test("ten requests with one key create one project and all get its response", async () => {
    const app = await memoryApp();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(app)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotency-replayed") === "true")).toHaveLength(9);
    expect(await total(app)).toBe(1);
  });

  test("a claim of a process that died is taken over once its lease ends", async () => {
    const { promise: hangs, resolve: end } = Promise.withResolvers<void>();
    let calls = 0;
    const app = await memoryApp({}, ({ projects }) => ({
      projects: intercepted(projects, "create", async (goOn) => {
        if (calls++ === 0) await hangs;
        return goOn();
      }),
    }));
    const first = create(app);
    await eventually(
      async () => calls,
      (count) => count === 1,
    );
    app.world.clock.advance(15_000);
    const second = await create(app);
    expect(second.status).toBe(201);
    end();
    expect((await first).status).toBe(409);
    expect((await create(app)).text).toBe(second.text);
  });
});

describe("the scope of a key", () => {
  test("the same key of another user, or in another organization, is independent", async () => {
    const app = await memoryApp();
    const developer = await member(app, "developer");
    await create(app, { name: "One" });
    expect((await create(app, { name: "Two", token: developer.token })).status).toBe(201);
  });

  test("a revoked token with a known key answers 401, a demoted member's 403", async () => {
    const app = await memoryApp();
    const developer = await member(app, "developer");
    const again = () => create(app, { token: developer.token });
    expect((await again()).status).toBe(201);
    await app.call("PATCH", `/api/members/${developer.userId}`, { token: app.owner, body: { role: "viewer" } });
    expect((await again()).status).toBe(403);
    await app.call("DELETE", `/api/tokens/${developer.tokenId}`, { token: developer.token });
    expect((await again()).status).toBe(401);
  });

  test("a narrowed token gets no response of its owner's other credentials", async () => {
    const app = await memoryApp();
    const { id } = (await create(app, { headers: {} })).body.data;
    const other = (await create(app, { headers: {}, name: "Other" })).body.data.id;
    const mint = async (body: object) =>
      (await app.call("POST", "/api/tokens", { token: app.owner, body: { name: "t", ...body } })).body.data
        .token as string;
    const granted = await mint({ grants: [{ resource: "project", id: other, action: "write" }] });
    const tries: [string, string, object][] = [
      ["PATCH", `/api/projects/${id}`, { name: "Renamed" }],
      ["POST", "/api/tokens", { name: "wide" }],
      ["POST", "/api/auth/password", { password: "correct horse battery" }],
    ];
    for (const [method, path, body] of tries) {
      expect((await app.call(method, path, { token: app.owner, headers: KEY, body })).status).toBeLessThan(300);
      expect((await app.call(method, path, { token: granted, headers: KEY, body })).status).toBe(403);
    }
  });

  test("logging in is never replayed", async () => {
    const app = await memoryApp();
    const { email, password } = await member(app, "viewer");
    const login = () => app.call("POST", "/api/auth/login", { headers: KEY, body: { email, password } });
    const cookies = [await login(), await login()].map(({ headers }) => headers.get("set-cookie"));
    expect(cookies[0]).toStartWith("slipway_session=");
    expect(cookies[1]).not.toBe(cookies[0]!);
  });
});

describe("responses that are not stored", () => {
  test("a failure of the server itself", async () => {
    const app = await memoryApp({}, ({ projects }) => ({ projects: failing(projects, "create", { times: 1 }) }));
    expect((await create(app)).status).toBe(500);
    const second = await create(app);
    expect([second.status, second.headers.get("idempotency-replayed")]).toEqual([201, null]);
    expect((await create(app)).headers.get("idempotency-replayed")).toBe("true");
  });

  test("a throttled response", async () => {
    const app = await memoryApp();
    const { token, password } = await member(app, "viewer");
    const change = (current: string, headers = {}) =>
      app.call("POST", "/api/auth/password", { token, headers, body: { password: "another long password", current } });
    for (let attempt = 0; attempt < 10; attempt++) await change("wrong password");
    expect((await change(password, KEY)).status).toBe(429);
    app.world.clock.advance(60_000);
    expect((await change(password, KEY)).status).toBe(200);
  });

  test("a body that could not be read", async () => {
    const app = await memoryApp();
    const headers = { ...KEY, "content-type": "application/json" };
    expect((await create(app, { body: undefined, raw: "{", headers })).status).toBe(400);
    expect((await create(app)).status).toBe(201);
  });
});

/** An open upload session. */
async function session() {
  const app = await memoryApp();
  const { sessionId } = (await app.call("POST", "/api/projects/folder/session", { token: app.owner, body: {} })).body;
  const upload = (raw: Call["raw"]) =>
    app.call("POST", `/api/projects/folder/upload/${sessionId}`, {
      token: app.owner,
      headers: KEY,
      ...(raw && { raw }),
    });
  return { app, upload };
}

describe("an upload with a key", () => {
  const noise = randomInput("uploads with a key");
  const good = tarGz([file("index.html", "<h1>Hi</h1>"), file("big.bin", noise.bytes(60_000))]);
  const hostile = tarGz([file("a", "a"), file("../evil"), file("big.bin", noise.bytes(60_000))]);

  test("replays for the same bytes, in any chunks, and answers 409 to others", async () => {
    const { upload } = await session();
    const first = await upload(streamOf(good, 1_000));
    expect(first.status).toBe(200);
    expect((await upload(streamOf(good, 777))).text).toBe(first.text);
    expect((await upload(good)).headers.get("idempotency-replayed")).toBe("true");
    for (const other of [hostile, good.slice(0, -1), undefined]) {
      expect((await upload(other)).body.code).toBe("idempotency_key_reused");
    }
  });

  test("sent three times at once is received once", async () => {
    const { upload } = await session();
    const answers = await Promise.all([1, 2, 3].map((piece) => upload(streamOf(good, 1_000 * piece))));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  });

  test("that was refused before its end may be retried with valid bytes", async () => {
    const { upload } = await session();
    expect((await upload(streamOf(hostile, 500))).body.code).toBe("archive_name_refused");
    expect((await upload(streamOf(hostile, 500))).body.code).toBe("archive_name_refused");
    expect((await upload(streamOf(good, 500))).status).toBe(200);
  });

  test("without a body is refused the same every time", async () => {
    const { upload } = await session();
    expect((await upload(undefined)).body.code).toBe("upload_empty");
    expect((await upload(undefined)).body.code).toBe("upload_empty");
  });
});

describe("access to a stored response", () => {
  test("is checked again when the caller's permissions changed", async () => {
    const app = await memoryApp();
    const { id } = (await create(app, { headers: {} })).body.data;
    const grants = [{ resource: "project", id, action: "write" }];
    const restricted = await member(app, "restricted", { grants });
    const rename = () =>
      app.call("PATCH", `/api/projects/${id}`, { token: restricted.token, headers: KEY, body: { name: "Renamed" } });
    expect((await rename()).status).toBe(200);
    expect((await rename()).headers.get("idempotency-replayed")).toBe("true");
    await app.call("PATCH", `/api/members/${restricted.userId}`, {
      token: app.owner,
      body: { grants: [{ resource: "server", id: "*", action: "read" }] },
    });
    expect((await rename()).status).toBe(403);
  });
});

describe("waiting for the first response", () => {
  test("ends with 409 and a Retry-After", async () => {
    const app = await memoryApp();
    const claim = app.world.idempotentAnswers.claim.bind(app.world.idempotentAnswers);
    app.world.idempotentAnswers.claim = async (request, options) => {
      if (request.key !== KEY["idempotency-key"]) return claim(request, options);
      app.world.clock.advance(20_000);
      return { state: "running" };
    };
    const answer = await create(app);
    expect(answer.status).toBe(409);
    expect(answer.body.code).toBe("idempotency_key_running");
    expect(answer.headers.get("retry-after")).toBe("5");
  });
});
