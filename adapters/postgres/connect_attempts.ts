import type { ConnectAttempt, ConnectAttempts, DeviceAttempt } from "../../ports/githost/connect_attempts.ts";
import type { Vault } from "../../ports/system/vault.ts";
import type { Database, Sql } from "./database.ts";
import { SEALED_COLUMNS, sealedPlace } from "./sealed_columns.ts";

interface AttemptRow {
  readonly state_hash: string;
  readonly organization_id: string;
  readonly user_id: string;
  readonly installation_id: number | null;
  readonly started_at: Date;
  readonly expires_at: Date;
}

interface DeviceRow {
  readonly organization_id: string;
  readonly user_id: string;
  readonly sealed_device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly interval_seconds: number;
  readonly next_check_at: Date;
  readonly expires_at: Date;
  readonly status: DeviceAttempt["status"];
}

/** Stores attempts to connect the git host in PostgreSQL, with encrypted device codes. */
export class PostgresConnectAttempts implements ConnectAttempts {
  readonly #database: Database;
  readonly #vault: Vault;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async put(attempt: ConnectAttempt): Promise<void> {
    const { stateHash, organizationId, userId, installationId, startedAt, expiresAt } = attempt;
    await this.#database.run(
      (sql) => sql`
        insert into connect_attempts (${attemptColumns(sql)})
        values (${stateHash}, ${organizationId}, ${userId}, ${installationId}, ${startedAt}, ${expiresAt})
        on conflict (state_hash) do update set
          organization_id = excluded.organization_id, user_id = excluded.user_id,
          installation_id = excluded.installation_id, started_at = excluded.started_at,
          expires_at = excluded.expires_at`,
    );
  }

  async find(stateHash: string, now: Date): Promise<ConnectAttempt | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<AttemptRow[]>`
        select ${attemptColumns(sql)} from connect_attempts where state_hash = ${stateHash} and expires_at > ${now}`,
    );
    return row && toAttempt(row);
  }

  async take(stateHash: string, now: Date): Promise<ConnectAttempt | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<AttemptRow[]>`
        delete from connect_attempts where state_hash = ${stateHash} and expires_at > ${now}
        returning ${attemptColumns(sql)}`,
    );
    return row && toAttempt(row);
  }

  async putDevice(attempt: DeviceAttempt): Promise<void> {
    const { organizationId, userId, deviceCode, userCode, verificationUri } = attempt;
    const { intervalSeconds, nextCheckAt, expiresAt, status } = attempt;
    const sealed = await this.#vault.seal(deviceCode, placeOf(organizationId, userId));
    await this.#database.run(
      (sql) => sql`
        insert into device_attempts (${deviceColumns(sql)})
        values (${organizationId}, ${userId}, ${sealed}, ${userCode}, ${verificationUri}, ${intervalSeconds},
          ${nextCheckAt}, ${expiresAt}, ${status})
        on conflict (organization_id, user_id) do update set
          sealed_device_code = excluded.sealed_device_code, user_code = excluded.user_code,
          verification_uri = excluded.verification_uri, interval_seconds = excluded.interval_seconds,
          next_check_at = excluded.next_check_at, expires_at = excluded.expires_at, status = excluded.status`,
    );
  }

  async device(organizationId: string, userId: string): Promise<DeviceAttempt | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<DeviceRow[]>`
        select ${deviceColumns(sql)} from device_attempts
        where organization_id = ${organizationId} and user_id = ${userId}`,
    );
    return row && this.#toDevice(row);
  }

  async takeDueDevice(now: Date): Promise<DeviceAttempt | undefined> {
    const [row] = await this.#database.run(
      (sql) => sql<DeviceRow[]>`
        with over as (
          select organization_id, user_id from device_attempts
          where status = 'pending' and expires_at <= ${now} for update skip locked
        ), expired as (
          update device_attempts set status = 'expired'
          where (organization_id, user_id) in (select organization_id, user_id from over)
        ), due as (
          select organization_id, user_id from device_attempts
          where status = 'pending' and expires_at > ${now} and next_check_at <= ${now}
          order by next_check_at limit 1 for update skip locked
        )
        update device_attempts set next_check_at = ${now}::timestamptz + interval_seconds * interval '1 second'
        where (organization_id, user_id) in (select organization_id, user_id from due)
        returning ${deviceColumns(sql)}`,
    );
    return row && this.#toDevice(row);
  }

  async settleDevice(
    { organizationId, userId, userCode }: Pick<DeviceAttempt, "organizationId" | "userId" | "userCode">,
    { status, intervalSeconds, nextCheckAt }: Pick<DeviceAttempt, "status" | "intervalSeconds" | "nextCheckAt">,
  ): Promise<void> {
    await this.#database.run(
      (sql) => sql`
        update device_attempts
        set status = ${status}, interval_seconds = ${intervalSeconds}, next_check_at = ${nextCheckAt}
        where organization_id = ${organizationId} and user_id = ${userId} and user_code = ${userCode}
          and status = 'pending'`,
    );
  }

  async sweep(before: Date): Promise<number> {
    const [row] = await this.#database.run(
      (sql) => sql<{ count: number }[]>`
        with begun as (
          delete from connect_attempts where expires_at < ${before} returning 1
        ), devices as (
          delete from device_attempts where expires_at < ${before} returning 1
        )
        select (select count(*) from begun) + (select count(*) from devices) as count`,
    );
    return row?.count ?? 0;
  }

  async #toDevice(row: DeviceRow): Promise<DeviceAttempt> {
    return {
      organizationId: row.organization_id,
      userId: row.user_id,
      deviceCode: await this.#vault.open(row.sealed_device_code, placeOf(row.organization_id, row.user_id)),
      userCode: row.user_code,
      verificationUri: row.verification_uri,
      intervalSeconds: row.interval_seconds,
      nextCheckAt: row.next_check_at,
      expiresAt: row.expires_at,
      status: row.status,
    };
  }
}

function placeOf(organizationId: string, userId: string) {
  return sealedPlace(SEALED_COLUMNS.deviceCode, organizationId, userId);
}

function attemptColumns(sql: Sql) {
  return sql`state_hash, organization_id, user_id, installation_id, started_at, expires_at`;
}

function toAttempt(row: AttemptRow): ConnectAttempt {
  return {
    stateHash: row.state_hash,
    organizationId: row.organization_id,
    userId: row.user_id,
    installationId: row.installation_id,
    startedAt: row.started_at,
    expiresAt: row.expires_at,
  };
}

function deviceColumns(sql: Sql) {
  return sql`organization_id, user_id, sealed_device_code, user_code, verification_uri, interval_seconds, next_check_at,
    expires_at, status`;
}
