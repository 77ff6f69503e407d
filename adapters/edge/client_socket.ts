/** The parts of a socket that a client connection uses; Bun's sockets have them all. */
export interface ClientSocket {
  /** Returns how many bytes were accepted; the connection offers the rest again once the socket is writable. */
  write(bytes: Uint8Array, byteOffset?: number, byteLength?: number): number;
  pause(): void;
  resume(): void;
  /** Closes the connection after the accepted bytes were sent. */
  end(): void;
  /** Closes the sending half after the accepted bytes were sent. */
  shutdown(): void;
  /** Resets the connection. */
  terminate(): void;
}
