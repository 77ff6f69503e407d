import { describe, expect, test } from "bun:test";
import { browser, member, memoryApp, ownerSession, type TestApp } from "../support/apps/app.ts";

const HOUR = 3_600_000;
const RANDOM = /^shop-[a-z0-9]{6}\.localhost$/;

/** Two organizations with one project each. */
async function scene(settings: Parameters<typeof memoryApp>[0] = {}) {
  const app = await memoryApp(settings);
  const cookie = await ownerSession(app);
  const second = await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
  const here = { token: app.owner };
  const there = browser(cookie, { "x-organization-id": second.body.data.id });
  return { app, here: await partyOf(app, here), there: await partyOf(app, there) };
}

async function partyOf({ call }: TestApp, as: object, name = "Site") {
  const projectId = (await call("POST", "/api/projects", { ...as, body: { name } })).body.data.id as string;
  return {
    projectId,
    claim: (hostname: string, project = projectId) =>
      call("POST", "/api/domains", { ...as, body: { projectId: project, hostname } }),
    verify: (id: string) => call("POST", `/api/domains/${id}/verify`, as),
    remove: (id: string) => call("DELETE", `/api/domains/${id}`, as),
    list: async (query = "") => (await call("GET", `/api/domains${query}`, as)).body,
  };
}

/** For tests whose requests are all refused. */
const untouched = scene();

describe("a free name", () => {
  test("belongs to the project at once; a taken one gets a random suffix, in the same organization and in others", async () => {
    const { here, there } = await scene();
    const first = (await here.claim("shop.localhost")).body.data;
    expect(first).toMatchObject({ hostname: "shop.localhost", type: "free", verified: true, verification: null });
    expect((await here.claim("shop.localhost")).body.data.hostname).toMatch(RANDOM);
    expect((await there.claim("SHOP.localhost.")).body.data.hostname).toMatch(RANDOM);
  });

  test("is assigned to each of ten concurrent requests, each its own", async () => {
    const { here } = await scene();
    const answers = await Promise.all(Array.from({ length: 10 }, () => here.claim("shop.localhost")));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
    expect(new Set(answers.map(({ body }) => body.data.hostname)).size).toBe(10);
  });

  test.each([
    "a.b.localhost",
    "-x.localhost",
    "x-.localhost",
    `${"x".repeat(41)}.localhost`,
    "x_y.localhost",
    ".localhost",
    "*.localhost",
  ])("must be one label: %p is refused", async (hostname) => {
    const { here } = await untouched;
    const answer = await here.claim(hostname);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, "hostname"]);
  });

  test("that came with the project is removed only with it", async () => {
    const { here } = await scene();
    const own = (await here.list()).data[0];
    expect(own).toMatchObject({ hostname: "site.localhost", type: "free" });
    expect((await here.remove(own.id)).body.code).toBe("own_hostname");
    const further = (await here.claim("shop.localhost")).body.data;
    expect((await here.remove(further.id)).body).toEqual({ success: true });
    expect((await here.remove(further.id)).status).toBe(404);
    expect((await here.claim("shop.localhost")).body.data.hostname).toBe("shop.localhost");
  });

  test("in two organizations with the same slug the later project gets a random suffix", async () => {
    const { there } = await scene();
    expect((await there.list()).data[0].hostname).toMatch(/^site-[a-z0-9]{6}\.localhost$/);
  });
});

describe("a custom name", () => {
  test("waits for the TXT record that the response describes, then stays verified", async () => {
    const { app, here } = await scene();
    const { data } = (await here.claim("WWW.Example.com")).body;
    expect(data).toMatchObject({ hostname: "www.example.com", type: "custom", verified: false, verifiedAt: null });
    const { type, name, value } = data.verification;
    expect([type, name]).toEqual(["TXT", "_slipway.www.example.com"]);
    expect(value).toMatch(/^slipway-verification=[\w-]{43}$/);
    const early = await here.verify(data.id);
    expect([early.status, early.body.code]).toEqual([400, "domain_unverified"]);
    app.world.nameRecords.set(name, { texts: ["other", `${value}x`] });
    expect((await here.verify(data.id)).status).toBe(400);
    app.world.nameRecords.set(name, { texts: ["v=spf1 -all", value] });
    app.world.clock.advance(HOUR);
    const proven = (await here.verify(data.id)).body.data;
    expect(proven).toMatchObject({
      verified: true,
      verifiedAt: app.world.clock.now().toISOString(),
      verification: null,
    });
    app.world.nameRecords.set(name, { texts: [] });
    app.world.clock.advance(HOUR);
    expect((await here.verify(data.id)).body.data).toEqual(proven);
  });

  test("answers 503 when no name server does, and verifies nothing", async () => {
    const { app, here } = await scene();
    const { data } = (await here.claim("www.example.com")).body;
    app.world.nameRecords.set(data.verification.name, { silent: true });
    const answer = await here.verify(data.id);
    expect([answer.status, answer.body.code, answer.headers.get("retry-after")]).toEqual([
      503,
      "name_lookup_failed",
      "1",
    ]);
    expect((await here.list()).data).toContainEqual(data);
  });

  test("belongs to one organization in the whole installation: the first that proves it", async () => {
    const { app, here, there } = await scene();
    const { data: mine } = (await here.claim("www.example.com")).body;
    expect((await here.claim("www.example.com")).body.code).toBe("hostname_taken");
    const { data: theirs } = (await there.claim("www.example.com")).body;
    const { name, value } = theirs.verification;
    expect(value).not.toBe(mine.verification.value);
    app.world.nameRecords.set(name, { texts: [value] });
    expect((await here.verify(mine.id)).body.code).toBe("domain_unverified");
    expect((await there.verify(theirs.id)).status).toBe(200);
    app.world.nameRecords.set(name, { texts: [value, mine.verification.value] });
    const late = await here.verify(mine.id);
    expect([late.status, late.body.code]).toEqual([409, "hostname_taken"]);
    await here.remove(mine.id);
    for (const party of [here, there]) {
      const answer = await party.claim("www.example.com");
      expect([answer.status, answer.body.code]).toEqual([409, "hostname_taken"]);
    }
  });

  test("of the same organization names its project, to those who may see it", async () => {
    const { app, here, there } = await scene();
    const { projectId } = await partyOf(app, { token: app.owner }, "Second site");
    const { data } = (await here.claim("www.example.com")).body;
    app.world.nameRecords.set(data.verification.name, { texts: [data.verification.value] });
    await here.verify(data.id);
    const why = async ({ claim }: Pick<typeof here, "claim">, project?: string) =>
      (await claim("www.example.com", project)).body.error.replace('Cannot use "www.example.com": ', "");
    expect(await why(here, projectId)).toBe('your project "Site" has it already');
    expect(await why(here)).toBe("this project has it already");
    expect(await why(there)).toBe("it is taken on this installation");
    const grants = [{ resource: "project", id: projectId, action: "write" }];
    const { token } = await member(app, "restricted", { grants });
    const body = { projectId, hostname: "www.example.com" };
    const hidden = await app.call("POST", "/api/domains", { token, body });
    expect(hidden.body.error).toBe('Cannot use "www.example.com": it is taken on this installation');
  });

  test("that was verified stays, however old", async () => {
    const { app, here, there } = await scene();
    const { data } = (await here.claim("www.example.com")).body;
    app.world.nameRecords.set(data.verification.name, { texts: [data.verification.value] });
    await here.verify(data.id);
    app.world.clock.advance(300 * HOUR);
    expect((await there.claim("www.example.com")).status).toBe(409);
  });

  test("claimed twenty times at once is given once to each organization", async () => {
    const { here, there } = await scene();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 ? here : there).claim("www.example.com")),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(18);
  });

  test("may contain letters of all languages and is stored as DNS spells it", async () => {
    const { here } = await scene();
    expect((await here.claim("bücher.example")).body.data.hostname).toBe("xn--bcher-kva.example");
    expect((await here.claim("xn--bcher-kva.example")).status).toBe(409);
  });

  test.each([
    "example",
    "127.0.0.1",
    "0x7f.1",
    "[::1]",
    "a b.example.com",
    "*.example.com",
    "a..example.com",
    "-a.example.com",
    "http://example.com",
    "example.com/path",
    "example.com:80",
    "user@example.com",
    "exa\nmple.com",
    `${"a".repeat(64)}.com`,
    "%2e.com",
    "example.com..",
    `${"ü".repeat(60)}.com`,
    `${"ü.".repeat(60)}com`,
  ])("%p is not valid", async (hostname) => {
    const { here } = await untouched;
    const { body, status } = await here.claim(hostname);
    expect([status, body.details?.[0].path]).toEqual([400, "hostname"]);
  });

  test.each([
    ["*.example.com", "wildcards are not supported. Claim each name by itself"],
    ["*", "wildcards are not supported"],
    ["10.1.2.3", "an IP address cannot be claimed"],
    ["2001:db8::1", "an IP address cannot be claimed"],
    ["example", "with at least one dot"],
    ["https://example.com", "without a scheme, port or path"],
    ["example.com:8080", "without a scheme, port or path"],
    [`${"a".repeat(64)}.com`, "at most 63 each"],
  ])("%p is refused with a sentence that says why", async (hostname, why) => {
    const { here } = await untouched;
    expect((await here.claim(hostname)).body.error).toContain(why);
  });
});

/** One organization with a claimed name that leads to the given addresses. */
async function aloneWith(addresses: readonly string[], settings: Parameters<typeof memoryApp>[0] = {}) {
  const app = await memoryApp(settings);
  const party = await partyOf(app, { token: app.owner });
  const { data } = (await party.claim("www.example.com")).body;
  app.world.nameRecords.set("www.example.com", { addresses });
  return { app, party, data, verify: () => party.verify(data.id as string) };
}

describe("a custom name that leads to this installation", () => {
  const HERE = "203.0.113.7";
  const ELSEWHERE = "203.0.113.8";

  test("is verified without a record, if each address that answers does so as the response describes", async () => {
    const { app, party, data, verify } = await aloneWith([HERE, "203.0.113.9"]);
    const { url, value } = data.verification.http;
    expect(url).toMatch(/^http:\/\/www\.example\.com\/\.well-known\/slipway-challenge\/[\w-]{43}$/);
    expect(value).toBe(data.verification.value);
    expect((await party.list()).data).toContainEqual(data);
    const early = await verify();
    expect([early.status, early.body.code]).toEqual([400, "domain_unverified"]);
    expect(early.body.error).toContain("(nothing answers at port 80 of 203.0.113.7)");
    app.world.webTexts.serve(HERE, (hostname, path) => (url === `http://${hostname}${path}` ? value : undefined));
    const verified = await verify();
    expect(verified.body.data).toMatchObject({ verified: true, verification: null });
  });

  test("is not verified if one of its addresses leads elsewhere, or answers with more or another text", async () => {
    const { app, data, verify } = await aloneWith([HERE, ELSEWHERE]);
    const { value } = data.verification.http;
    app.world.webTexts.serve(HERE, () => value);
    for (const answer of [undefined, "", `${value}x`, `<p>${value}`, data.verification.http.url]) {
      app.world.webTexts.serve(ELSEWHERE, () => answer);
      const refused = await verify();
      expect([refused.status, refused.body.code]).toEqual([400, "domain_unverified"]);
      expect(refused.body.error).toContain("(at 203.0.113.8, another server answers)");
    }
  });

  test("is verified although no name server answers for the record", async () => {
    const { app, data, verify } = await aloneWith([HERE]);
    app.world.nameRecords.set(data.verification.name, { silent: true });
    expect((await verify()).body.code).toBe("name_lookup_failed");
    app.world.webTexts.serve(HERE, () => data.verification.http.value);
    expect((await verify()).status).toBe(200);
  });

  test("is not asked for where it would not show which organization controls it", async () => {
    const { app, party, data, verify } = await aloneWith([HERE]);
    app.world.webTexts.serve(HERE, () => data.verification.http.value);
    await app.call("POST", "/api/organizations", { token: app.owner, body: { name: "Second" } });
    expect((await verify()).body.error).not.toContain("installation");
    expect((await party.list()).data).toContainEqual({ ...data, verification: { ...data.verification, http: null } });
    const cloud = await aloneWith([HERE], { mode: "cloud" });
    expect(cloud.data.verification.http).toBeNull();
    cloud.app.world.webTexts.serve(HERE, () => cloud.data.verification.value);
    expect((await cloud.verify()).status).toBe(400);
    for (const { world } of [app, cloud.app]) expect(world.webTexts.requests).toEqual([]);
  });
});

test("a custom name cannot be the API's own host or the base domain", async () => {
  const { here } = await scene({ publicUrl: "https://deploy.example.com:8443", baseDomain: "apps.example.com" });
  for (const hostname of ["deploy.example.com", "apps.example.com", "DEPLOY.example.com."]) {
    expect((await here.claim(hostname)).body.code).toBe("hostname_taken");
  }
});

test("a claim for an unknown, another organization's or a deleted project is not found", async () => {
  const { app, here, there } = await scene();
  await app.call("DELETE", `/api/projects/${here.projectId}`, { token: app.owner });
  for (const projectId of [there.projectId, here.projectId, "prj_00000000000000000000000000", "nonsense"]) {
    expect((await here.claim("www.example.com", projectId)).body.code).toBe("project_not_found");
  }
});

test("GET /api/domains lists those of the organization, newest first, also of one project", async () => {
  const { app, here, there } = await scene();
  app.world.clock.advance(1);
  await here.claim("www.example.com");
  const hostnames = async (query: string) =>
    (await here.list(query)).data.map(({ hostname }: { hostname: string }) => hostname);
  expect(await hostnames("")).toEqual(["www.example.com", "site.localhost"]);
  expect(await hostnames(`?projectId=${here.projectId}&perPage=1`)).toEqual(["www.example.com"]);
  expect(await hostnames(`?projectId=${there.projectId}`)).toEqual([]);
});
