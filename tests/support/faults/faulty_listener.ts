/** A misbehaving TCP listener on loopback. */
export interface FaultyListener extends Disposable {
  readonly port: number;
}

/** How a faulty listener treats a connection: sends nothing, sends a byte now and then, closes it, or floods it. */
export type Fault = "silent" | "dripping" | "closing" | "flooding";

/** Listens on a free port until disposed, which also closes its connections. */
export function faultyListener(fault: Fault, drip = "S"): FaultyListener {
  const listener = Bun.listen<{ timer?: Timer }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = {};
        if (fault === "closing") socket.end();
        if (fault === "dripping") socket.data.timer = setInterval(() => socket.write(drip), 20);
        if (fault === "flooding") socket.data.timer = setInterval(() => socket.write(`${drip.repeat(1000)}\r\n`), 1);
      },
      data() {},
      close: (socket) => clearInterval(socket.data.timer),
      error() {},
    },
  });
  return { port: listener.port, [Symbol.dispose]: () => listener.stop(true) };
}
