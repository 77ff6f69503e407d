import type { ConnectAttempt, ConnectAttempts, DeviceAttempt } from "../../ports/githost/connect_attempts.ts";
import { assertMember } from "./assert_member.ts";
import { copied } from "./copied.ts";
import { type DeviceRow, memberKey, type MemoryTables } from "./memory_tables.ts";

/** Keeps attempts to connect the git host in memory. */
export class MemoryConnectAttempts implements ConnectAttempts {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async put(attempt: ConnectAttempt): Promise<void> {
    assertMember(this.#tables, attempt);
    this.#tables.connectAttempts.set(attempt.stateHash, copied(attempt));
  }

  async find(stateHash: string, now: Date): Promise<ConnectAttempt | undefined> {
    const attempt = this.#tables.connectAttempts.get(stateHash);
    return attempt && attempt.expiresAt > now ? copied(attempt) : undefined;
  }

  async take(stateHash: string, now: Date): Promise<ConnectAttempt | undefined> {
    const attempt = await this.find(stateHash, now);
    return this.#tables.connectAttempts.delete(stateHash) ? attempt : undefined;
  }

  async putDevice({ deviceCode, ...attempt }: DeviceAttempt): Promise<void> {
    assertMember(this.#tables, attempt);
    this.#store({ attempt: copied(attempt), deviceCode });
  }

  async device(organizationId: string, userId: string): Promise<DeviceAttempt | undefined> {
    const row = this.#tables.deviceAttempts.get(memberKey(organizationId, userId));
    return row && seen(row);
  }

  async takeDueDevice(now: Date): Promise<DeviceAttempt | undefined> {
    const pending = [...this.#tables.deviceAttempts.values()].filter(({ attempt }) => attempt.status === "pending");
    for (const { attempt, deviceCode } of pending) {
      if (attempt.expiresAt <= now) this.#store({ attempt: { ...attempt, status: "expired" }, deviceCode });
    }
    const [due] = pending
      .filter(({ attempt }) => attempt.expiresAt > now && attempt.nextCheckAt <= now)
      .sort((a, b) => a.attempt.nextCheckAt.getTime() - b.attempt.nextCheckAt.getTime());
    if (!due) return undefined;
    const nextCheckAt = new Date(now.getTime() + due.attempt.intervalSeconds * 1_000);
    return seen(this.#store({ ...due, attempt: { ...due.attempt, nextCheckAt } }));
  }

  async settleDevice(
    { organizationId, userId, userCode }: Pick<DeviceAttempt, "organizationId" | "userId" | "userCode">,
    { status, intervalSeconds, nextCheckAt }: Pick<DeviceAttempt, "status" | "intervalSeconds" | "nextCheckAt">,
  ): Promise<void> {
    const row = this.#tables.deviceAttempts.get(memberKey(organizationId, userId));
    if (row?.attempt.userCode !== userCode || row.attempt.status !== "pending") return;
    const outcome = { status, intervalSeconds, nextCheckAt: new Date(nextCheckAt) };
    this.#store({ ...row, attempt: { ...row.attempt, ...outcome } });
  }

  async sweep(before: Date): Promise<number> {
    const { connectAttempts, deviceAttempts } = this.#tables;
    const begun = [...connectAttempts].filter(([, { expiresAt }]) => expiresAt < before);
    const devices = [...deviceAttempts].filter(([, { attempt }]) => attempt.expiresAt < before);
    for (const [hash] of begun) connectAttempts.delete(hash);
    for (const [key] of devices) deviceAttempts.delete(key);
    return begun.length + devices.length;
  }

  #store(row: DeviceRow): DeviceRow {
    this.#tables.deviceAttempts.set(memberKey(row.attempt.organizationId, row.attempt.userId), row);
    return row;
  }
}

function seen({ attempt, deviceCode }: DeviceRow): DeviceAttempt {
  return { ...copied(attempt), deviceCode };
}
