import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import { APP, connectAccount, gitHostApp, installApp, OAUTH } from "../support/apps/git_host_app.ts";

describe("POST /api/githost/connect, once it was connected,", () => {
  test("leads to the installation again once the app is gone, which replaces the former one", async () => {
    const app = await gitHostApp({ githostApp: APP, githostOAuth: OAUTH });
    app.host.uninstall(await installApp(app, "acme"));
    app.host.fail("down");
    expect((await app.post("/connect")).body).toEqual({ connected: true });
    app.host.fail(null);
    expect((await app.post("/connect")).body.flow).toBe("redirect");
    const id = await installApp(app, "acme");
    expect((await app.get("/status")).body.state.sources.app.installations).toMatchObject([{ id, account: "acme" }]);
    expect((await app.get("/repos")).body.total).toBe(2);
  });

  test("leads to the authorization again once the git host refuses the login, but not because it fails", async () => {
    const app = await gitHostApp({ githostOAuth: OAUTH });
    await connectAccount(app, "ada");
    for (const token of app.host.tokens.keys()) app.host.revokeToken(new Secret(token));
    app.host.fail("down");
    for (const body of [{}, { source: "oauth" }]) expect((await app.post("/connect", body)).body.connected).toBe(true);
    app.host.fail(null);
    for (const body of [{}, { source: "oauth" }]) expect((await app.post("/connect", body)).body.flow).toBe("redirect");
    await connectAccount(app, "ada");
    expect((await app.post("/connect")).body).toEqual({ connected: true });
  });
});
