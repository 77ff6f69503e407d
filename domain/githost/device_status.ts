/** The status of a login on another device. */
export type DeviceStatus = "pending" | "complete" | "denied" | "expired";
