import { describe, expect, test } from "bun:test";
import { type DeployingApp, deployingApp } from "../support/apps/deploying_app.ts";
import { BUILD, REPOSITORY, START } from "../support/apps/engine_scene.ts";
import { eventually } from "../support/eventually.ts";

const LINES = Array.from({ length: 50 }, (_, index) => `line ${index + 1}`);

async function built(app: DeployingApp): Promise<string> {
  app.world.builder.scripts.set(BUILD, { prints: LINES });
  app.world.runtime.scripts.set(START, { does: "answers", prints: ["up", "ready"] });
  return app.deployed(await app.project());
}

interface Line {
  readonly seq: number;
  readonly message: string;
}

describe("GET /api/deployments/:id/logs", () => {
  test("returns every line with number, time, level, step, service and stream", async () => {
    await using app = await deployingApp();
    const { body } = await app.get(`/${await built(app)}/logs`);
    expect(body.data.find(({ message }: Line) => message === "line 7")).toEqual({
      seq: expect.any(Number),
      at: expect.any(String),
      level: "info",
      step: "build",
      service: null,
      stream: "stdout",
      message: "line 7",
    });
    expect(body.nextSince).toBe(body.data.at(-1).seq);
  });

  test("continues after `since`, `limit` at a time, and misses nothing", async () => {
    await using app = await deployingApp();
    const id = await built(app);
    const all = (await app.get(`/${id}/logs`)).body.data as Line[];
    const paged: Line[] = [];
    for (let since = 0; ;) {
      const { data, nextSince } = (await app.get(`/${id}/logs?since=${since}&limit=7`)).body;
      paged.push(...data);
      if (data.length === 0) {
        expect(nextSince).toBe(since);
        break;
      }
      expect(data.length).toBeLessThanOrEqual(7);
      since = nextSince;
    }
    expect(paged).toEqual(all);
  });

  test("is available while the build runs", async () => {
    await using app = await deployingApp();
    app.world.builder.scripts.set(BUILD, { prints: ["compiling"], hangs: true });
    const id = await app.deploy(await app.project());
    const messages = async () =>
      (await app.get(`/${id}/logs`)).body.data.map(({ message }: Line) => message) as string[];
    await eventually(messages, (lines) => lines.includes("compiling"));
    expect((await app.get(`/${id}`)).body.data.status).toBe("building");
    await app.post(`/${id}/cancel`);
  });

  test("returns the output of the program, with numbers of its own, by kind=runtime", async () => {
    await using app = await deployingApp();
    const id = await built(app);
    const { data, nextSince } = (await app.get(`/${id}/logs?kind=runtime`)).body;
    expect(data.map(({ seq, message, service }: Line & { service: string }) => [seq, message, service])).toEqual([
      [1, "up", "app"],
      [2, "ready", "app"],
    ]);
    expect(nextSince).toBe(2);
    expect((await app.get(`/${id}/logs?kind=runtime&since=1`)).body.data).toHaveLength(1);
  });

  test("returns the last lines by `tail`, in order, of those after `since`", async () => {
    await using app = await deployingApp();
    const id = await built(app);
    const all = (await app.get(`/${id}/logs`)).body.data as Line[];
    const tail = async (query: string) => (await app.get(`/${id}/logs?${query}`)).body;
    expect((await tail("tail=3")).data).toEqual(all.slice(-3));
    expect((await tail("tail=3")).nextSince).toBe(all.at(-1)!.seq);
    expect((await tail("tail=10000")).data).toEqual(all);
    const since = all.at(-6)!.seq;
    expect((await tail(`tail=2&since=${since}`)).data).toEqual(all.slice(-2));
    expect((await tail(`tail=50&since=${since}`)).data).toEqual(all.slice(-5));
    expect(await tail(`tail=5&since=${all.at(-1)!.seq}`)).toEqual({ data: [], nextSince: all.at(-1)!.seq });
    expect((await tail("tail=5&limit=2")).data).toEqual(all.slice(-5));
    const text = await app.ask(`/${id}/logs?tail=2&since=${since}`, { headers: { accept: "text/plain" } });
    expect(await text.text()).toBe(`${all.at(-2)!.message}\n${all.at(-1)!.message}\n`);
  });

  test("returns the last lines of the program's output by `tail`", async () => {
    await using app = await deployingApp();
    const prints = Array.from({ length: 2_345 }, (_, index) => `printed ${index + 1}`);
    app.world.runtime.scripts.set(START, { does: "answers", prints });
    const id = await app.deployed(await app.project());
    const messages = async (query: string) =>
      (await app.get(`/${id}/logs?kind=runtime&${query}`)).body.data.map(({ message }: Line) => message);
    expect(await messages("tail=2")).toEqual(prints.slice(-2));
    expect(await messages("tail=1500")).toEqual(prints.slice(-1_500));
    expect(await messages("tail=5&since=2343")).toEqual(prints.slice(-2));
    expect(await messages("tail=5&since=2345")).toEqual([]);
    const text = await app.ask(`/${id}/logs?kind=runtime&tail=1`, { headers: { accept: "text/plain" } });
    expect(await text.text()).toBe("printed 2345\n");
  });

  test("shows the build lines of a project of one service under the name of that service too", async () => {
    await using app = await deployingApp();
    const id = await built(app);
    const all = (await app.get(`/${id}/logs`)).body.data as Line[];
    expect((await app.get(`/${id}/logs?service=app`)).body.data).toEqual(all);
    expect((await app.get(`/${id}/logs?service=app&tail=2`)).body.data).toEqual(all.slice(-2));
  });

  test.each(["logs?service=ap", "logs?kind=runtime&service=ap", "stream?kind=runtime&service=ap"])(
    "%s names the services when there is no such one",
    async (path) => {
      await using app = await deployingApp();
      const id = await built(app);
      const message = 'this deployment has no such service (did you mean "app"?); its only service is app';
      for (const accept of ["application/json", "text/plain"]) {
        const refused = await app.ask(`/${id}/${path}`, { headers: { accept } });
        expect(refused.status).toBe(400);
        expect(await refused.json()).toMatchObject({
          code: "invalid_request",
          details: [{ path: "service", message }],
        });
      }
    },
  );

  test("accepts any service as long as the services are not known yet", async () => {
    await using app = await deployingApp();
    delete app.world.sources.known.git[REPOSITORY];
    const failed = await app.deployed(await app.project());
    expect((await app.get(`/${failed}/logs?service=web`)).body.data).toEqual([]);
  });

  test("returns the output of a program that was replaced, or did not come up", async () => {
    await using app = await deployingApp();
    const project = await app.project();
    app.world.runtime.scripts.set(START, { does: "answers", prints: ["up", "ready"], lastWords: ["bye"] });
    const first = await app.deployed(project);
    app.world.runtime.scripts.set(START, { does: "ends", code: 1, prints: ["no luck"] });
    const failed = await app.deployed(project);
    app.world.runtime.scripts.delete(START);
    await app.deployed(project);
    await eventually(
      () => app.world.runtime.list(),
      (instances) => instances.every(({ deploymentId }) => deploymentId !== first),
    );
    const { data, nextSince } = (await app.get(`/${first}/logs?kind=runtime&since=1`)).body;
    expect(data.map(({ seq, message }: Line) => [seq, message])).toEqual([
      [2, "ready"],
      [3, "bye"],
    ]);
    expect(nextSince).toBe(3);
    const text = await app.ask(`/${first}/logs?kind=runtime`, { headers: { accept: "text/plain" } });
    expect(await text.text()).toBe("up\nready\nbye\n");
    const reasons = (await app.get(`/${failed}/logs?kind=runtime&service=app&limit=1`)).body.data;
    expect(reasons.map(({ message }: Line) => message)).toEqual(["no luck"]);
  });

  test("returns the whole log as text when text is requested", async () => {
    await using app = await deployingApp();
    const id = await built(app);
    const response = await app.ask(`/${id}/logs`, { headers: { accept: "text/plain" } });
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const all = (await app.get(`/${id}/logs`)).body.data as Line[];
    expect(await response.text()).toBe(all.map(({ message }) => `${message}\n`).join(""));
    const runtime = await app.ask(`/${id}/logs?kind=runtime`, { headers: { accept: "text/plain" } });
    expect(await runtime.text()).toBe("up\nready\n");
  });

  test.each([
    ["application/json, text/plain, */*", "application/json"],
    ["text/plain;q=0.1, application/json", "application/json"],
    ["text/html", "application/json"],
    ["text/plain, */*;q=0.1", "text/plain"],
  ])("answers Accept: %s with %s, and adds a Vary header", async (accept, media) => {
    await using app = await deployingApp();
    const id = await app.deploy(await app.project(), { start: false });
    const response = await app.ask(`/${id}/logs`, { headers: { accept } });
    expect(response.headers.get("content-type")?.split(";")[0]).toBe(media);
    expect(response.headers.get("vary")).toBe("Accept");
  });

  test.each([
    ["since=-1", "since", "must be a whole number of at least 0"],
    ["since=x", "since", "must be a whole number of at least 0"],
    ["since=", "since", "must be a whole number of at least 0"],
    ["limit=0", "limit", "must be a whole number from 1 to 10000"],
    ["limit=10001", "limit", "must be a whole number from 1 to 10000"],
    ["tail=0", "tail", "must be a whole number from 1 to 10000"],
    ["tail=10001", "tail", "must be a whole number from 1 to 10000"],
    ["tail=-5", "tail", "must be a whole number from 1 to 10000"],
    ["kind=other", "kind", "must be one of build, runtime"],
  ])("refuses ?%s: %s %s", async (query, path, message) => {
    await using app = await deployingApp();
    const id = await app.deploy(await app.project(), { start: false });
    const { status, body } = await app.get(`/${id}/logs?${query}`);
    expect([status, body.details]).toEqual([400, [{ path, message }]]);
  });

  test("accepts any `since`, from 0 to beyond all numbers", async () => {
    await using app = await deployingApp();
    const id = await built(app);
    expect((await app.get(`/${id}/logs?since=0`)).body.data).not.toEqual([]);
    for (const since of ["9".repeat(15), "9".repeat(17), "9".repeat(400)]) {
      for (const kind of ["build", "runtime"]) {
        const { status, body } = await app.get(`/${id}/logs?kind=${kind}&since=${since}`);
        expect([status, body.data]).toEqual([200, []]);
      }
      expect((await app.ask(`/${id}/stream?since=${since}`)).status).toBe(204);
    }
  });
});
