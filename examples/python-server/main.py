import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Greeter(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/health":
            return self.answer("application/json", json.dumps({"ok": True}))
        self.answer("text/plain", f"Python greets {os.environ.get('WHOM', 'everyone')}\n")

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
port = int(os.environ.get("PORT", 8000))
print(f"listening on {port}", flush=True)
ThreadingHTTPServer(("", port), Greeter).serve_forever()
