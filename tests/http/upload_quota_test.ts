import { expect, test } from "bun:test";
import { member, memoryApp } from "../support/app.ts";
import { file, tarGz } from "../support/tar_archive.ts";

const HOUR = 3_600_000;

async function scene() {
  const app = await memoryApp();
  const open = (token = app.owner) => app.call("POST", "/api/projects/folder/session", { token, body: {} });
  const fill = async (count: number, token?: string) => {
    for (let index = 0; index < count; index++) expect((await open(token)).status).toBe(200);
  };
  return { app, open, fill };
}

test("a person has at most 20 sessions that wait or are ready", async () => {
  const { app, open, fill } = await scene();
  const { sessionId } = (await open()).body;
  const raw = tarGz([file("index.html")]);
  const sent = await app.call("POST", `/api/projects/folder/upload/${sessionId}`, { token: app.owner, raw });
  expect(sent.status).toBe(200);
  await fill(19);
  const { status, body } = await open();
  expect([status, body.code]).toEqual([400, "too_many_uploads"]);
  expect(body.error).toBe(
    "Cannot open another upload session: you have 20 already. Deploy some, or wait until they expire, within the hour",
  );
  const developer = await member(app, "developer");
  await fill(1, developer.token);
  const project = await app.call("POST", "/api/projects", { token: app.owner, body: { name: "Shop" } });
  const wish = { projectId: project.body.data.id, uploadSessionId: sessionId };
  const deployed = await app.call("POST", "/api/deployments/build/access", { token: app.owner, body: wish });
  expect(deployed.status).toBe(200);
  await fill(1);
  app.world.clock.advance(HOUR);
  await fill(20);
});

test("an organization has at most 100", async () => {
  const { app, open, fill } = await scene();
  await fill(20);
  for (let person = 0; person < 4; person++) await fill(20, (await member(app, "developer")).token);
  const { status, body } = await open((await member(app, "developer")).token);
  expect([status, body.code]).toEqual([400, "too_many_uploads"]);
  expect(body.error).toContain("your organization has 100 already");
});
