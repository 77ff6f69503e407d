import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import postgres from "postgres";
import { readConnectionRecord } from "../../adapters/embedded_postgres/connection_record.ts";
import { runningEmbeddedPostgres } from "../../adapters/embedded_postgres/running_embedded_postgres.ts";
import { newToken } from "../../domain/identity/token.ts";
import { eventually } from "../support/eventually.ts";
import { OpenRequest } from "../support/servers/http_client.ts";
import { halfUpload } from "../support/servers/half_upload.ts";
import { query } from "../support/database/query.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { postgresOn, printedToken, SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { file, tarGz } from "../support/inputs/tar_archive.ts";
import { testDatabase } from "../support/database/test_database.ts";

async function status(slipway: SlipwayProcess, token: string): Promise<number> {
  return (await slipway.call("GET", "/api/auth/me", { token })).status;
}

/** The outcome of a new connection. */
function outcomeOfConnecting(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve("connected");
    });
    socket.once("error", (error: { code?: string }) => resolve(error.code ?? "unknown"));
  });
}

/** A port as in the kernel's TCP table. */
function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** The pids of all descendants of a process. */
function descendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const [, , , parent] = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/\(.*\)/s, "()")
        .split(" ");
      parents.set(Number(name), Number(parent));
    } catch {
      // It has exited meanwhile.
    }
  }
  const children = [...parents].filter(([, parent]) => parent === pid).map(([child]) => child);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

describe("with no setting at all", () => {
  const server = sharedWorld(() => SlipwayProcess.start());

  test("the first start prints addresses, the token once, and the next command; later ones print no token", async () => {
    const slipway = server();
    const { stdout } = slipway.program;
    const token = printedToken(stdout)!;
    expect(token).toMatch(/^slp_[\w-]{43}$/);
    expect(stdout.split(token)).toHaveLength(2);
    for (const said of [`${slipway.address}/api\n`, `${slipway.address}/api/docs\n`, ` ${slipway.folder}\n`, "curl "])
      expect(stdout).toContain(said);
    expect(await status(slipway, token)).toBe(200);
    for (const path of ["/api/docs", "/api/health"]) {
      expect((await fetch(`${slipway.address}${path}`)).status).toBe(200);
    }
    await slipway.stop();
    await slipway.start();
    expect(slipway.program.stdout).not.toContain("slp_");
    expect(slipway.program.stdout).toContain("curl ");
    expect(await status(slipway, token)).toBe(200);
  });

  test("its files are readable by its own user alone", async () => {
    const slipway = server();
    const mode = async (name: string) => ((await stat(join(slipway.folder, name))).mode & 0o777).toString(8);
    expect(await mode("")).toBe("700");
    expect(await mode("postgres")).toBe("700");
    for (const name of ["secret.key", "postgres.json", "postgres.log"]) expect(await mode(name)).toBe("600");
  });

  test("nothing listens on anything but loopback", async () => {
    const slipway = server();
    const { port: database } = (await readConnectionRecord(slipway.folder))!;
    const own = new Set(
      readdirSync(`/proc/${slipway.program.pid}/fd`).map((fd) => {
        try {
          return readlinkSync(`/proc/${slipway.program.pid}/fd/${fd}`);
        } catch {
          return "";
        }
      }),
    );
    const listening = ["tcp", "tcp6", "udp", "udp6"].flatMap((kind) =>
      readFileSync(`/proc/net/${kind}`, "utf8")
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.trim().split(/\s+/))
        .filter(([, , , state]) => state === (kind.startsWith("tcp") ? "0A" : "07"))
        .map((fields) => ({ address: fields[1]!, socket: `socket:[${fields[9]}]` })),
    );
    const ours = listening.filter(({ address, socket }) => own.has(socket) || address.endsWith(`:${hex(database)}`));
    const loopback = "0100007F";
    expect(ours.map(({ address }) => address).toSorted()).toEqual(
      [database, slipway.port, slipway.edgePort, slipway.edgeTlsPort]
        .map((port) => `${loopback}:${hex(port)}`)
        .toSorted(),
    );
  });
});

describe("starting", () => {
  test("a data folder that others may read is made private", async () => {
    await using place = await temporaryPlace();
    await using database = await testDatabase();
    await mkdir(place.data, { mode: 0o755 });
    await using _ = await SlipwayProcess.start({ SLIPWAY_DATA: place.data, DATABASE_URL: database.url });
    expect((await stat(place.data)).mode & 0o777).toBe(0o700);
  });

  test("SLIPWAY_ADMIN_TOKEN is the owner's token, is not printed, and a changed one replaces the former", async () => {
    await using database = await testDatabase();
    const [first, second, third] = [newToken(), newToken(), newToken()];
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    const generated = slipway.owner;
    const statuses = async () => Promise.all([generated, first, second, third].map((token) => status(slipway, token)));
    for (const [token, expected] of [
      [first, [401, 200, 401, 401]],
      [second, [401, 401, 200, 401]],
      [undefined, [401, 401, 200, 401]],
      [third, [401, 401, 401, 200]],
    ] as const) {
      await slipway.stop();
      await slipway.start(token === undefined ? {} : { SLIPWAY_ADMIN_TOKEN: token });
      expect(await statuses()).toEqual([...expected]);
      expect(slipway.program.stdout).not.toContain("slp_");
    }
    await using other = await testDatabase();
    await using fresh = await SlipwayProcess.start({ DATABASE_URL: other.url, SLIPWAY_ADMIN_TOKEN: first });
    expect(fresh.program.stdout).not.toContain("slp_");
    expect(await status(fresh, first)).toBe(200);
  });

  test("a stop signal during the start stops it", async () => {
    // On an empty data folder.
    await using place = await temporaryPlace();
    await using slipway = await SlipwayProcess.prepare({ SLIPWAY_DATA: place.data });
    const program = slipway.launch();
    await eventually(
      async () => existsSync(join(slipway.folder, "postgres.part")),
      (found) => found,
    );
    program.signal("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null });
    expect(await postgresOn(slipway.folder)).toEqual([]);
  });
});

describe("stopping", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s lets running requests finish, accepts no new ones, and leaves no process",
    async (signal) => {
      await using slipway = await SlipwayProcess.start({ STOP_TIMEOUT_SECONDS: "120" });
      const url = (await runningEmbeddedPostgres(slipway.folder))!;
      const upload = await halfUpload(slipway);
      const children = descendants(slipway.program.pid);
      expect(children.length).toBeGreaterThan(0);
      const hand = postgres(url, { max: 1, onnotice: () => {} });
      const lock = Promise.withResolvers<void>();
      const locked = Promise.withResolvers<void>();
      const holding = hand
        .begin(async (sql) => {
          await sql`lock table projects in access exclusive mode`;
          locked.resolve();
          await lock.promise;
        })
        .catch((error: Error) => {
          throw new Error(`The lock was lost: ${error.message}. The server printed:\n${slipway.program.stderr}`);
        });
      await locked.promise;
      const created = slipway.call("POST", "/api/projects", { token: slipway.owner, body: { name: "Harbour" } });
      // The server's own maintenance may wait for the lock, too.
      const waits = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into projects%'`;
      const waiting = await eventually(
        () => query(url, waits),
        (rows) => rows.length > 0,
      );
      expect(waiting).not.toEqual([]);
      slipway.program.signal(signal);
      // A connection that was waiting to be accepted at that moment is reset; later ones are refused.
      await eventually(
        () => outcomeOfConnecting(slipway.port),
        (outcome) => outcome === "ECONNREFUSED",
      );
      lock.resolve();
      await holding;
      await hand.end();
      expect((await created).status).toBe(201);
      expect(await upload.finish()).toMatchObject({ status: 200, body: { success: true, files: 1 } });
      expect(await slipway.program.ended).toMatchObject({ code: 0, signal: null });
      expect(await postgresOn(slipway.folder)).toEqual([]);
      expect(children.filter((pid) => existsSync(`/proc/${pid}/exe`))).toEqual([]);
      await slipway.start();
      const { body } = await slipway.call("GET", "/api/projects", { token: slipway.owner });
      expect(body.data).toMatchObject([{ name: "Harbour" }]);
    },
  );

  test("neither an idle connection nor one that sends no request delays the stop", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url });
    using idle = await OpenRequest.open(slipway.address, {
      path: "/api/auth/logout",
      token: slipway.owner,
      length: 0,
      headers: { connection: "keep-alive" },
    });
    await idle.answer();
    const silent = Bun.connect({ hostname: "127.0.0.1", port: slipway.port, socket: { data() {} } });
    await silent;
    expect(await slipway.stop()).toMatchObject({ code: 0 });
  });

  test("a request that does not end is aborted, and its upload can be sent again after the next start", async () => {
    await using database = await testDatabase();
    await using slipway = await SlipwayProcess.start({ DATABASE_URL: database.url, STOP_TIMEOUT_SECONDS: "1" });
    const upload = await halfUpload(slipway);
    expect(await slipway.stop()).toMatchObject({ code: 0, signal: null });
    upload.cut();
    expect(await readdir(upload.home).catch(() => [])).toEqual([]);
    await slipway.start();
    const again = await slipway.call("POST", `/api/projects/folder/upload/${upload.id}`, {
      token: slipway.owner,
      raw: tarGz([file("index.html", "<h1>Hi</h1>")]),
    });
    expect(again.body).toMatchObject({ success: true, files: 1 });
  });

  test("a second signal ends it at once, and its PostgreSQL too", async () => {
    await using slipway = await SlipwayProcess.start();
    const upload = await halfUpload(slipway);
    slipway.program.signal("SIGTERM");
    await eventually(
      async () => slipway.program.stderr,
      (text) => text.includes("Stopping"),
    );
    slipway.program.signal("SIGTERM");
    expect((await slipway.program.ended).signal).toBe("SIGTERM");
    const left = await eventually(
      () => postgresOn(slipway.folder),
      (pids) => pids.length === 0,
    );
    expect(left).toEqual([]);
    upload.cut();
    await slipway.start();
    expect(await status(slipway, slipway.owner)).toBe(200);
  });
});
