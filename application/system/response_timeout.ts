/**
 * How long a request may wait for work before it responds that the work continues. Shorter than the idle timeout of a
 * connection, so that a waiting client gets a response before it is closed.
 */
export const RESPONSE_TIMEOUT_MS = 50_000;
